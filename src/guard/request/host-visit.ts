import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { GuardedRequest, HostRequest } from '../host-types.ts'
import type { HostedStore } from '../session-exchange.ts'
import { nodeView } from './node-view.ts'

/** Where the adapter of a host keeps, on Node's request, what it knows of it. The same across the doors of the package. */
export const VISIT: unique symbol = Symbol.for('sessmgr.visit')

/** A request as the application has it: Node's own, one of Express, one of Fastify, or a context of Koa. */
export type RequestLike =
  | IncomingMessage
  | Http2ServerRequest
  | {
      /** The request of Node, in Fastify. */
      readonly raw: IncomingMessage | Http2ServerRequest
    }
  | {
      /** The request of Node, in Koa. */
      readonly req: IncomingMessage | Http2ServerRequest
    }

/** A request of a host that is not Express: what Express has on the request itself, the adapter keeps here. */
export interface HostVisit extends Partial<GuardedRequest> {
  readonly raw: IncomingMessage
  /** The store that holds its session. */
  readonly store?: HostedStore
}

/** Lets Node's request, or the session on it, carry what an adapter knows of the request. */
export function showVisit(holder: object, visit: HostVisit): void {
  ;(holder as { [VISIT]?: HostVisit })[VISIT] = visit
}

/** Finds what an adapter knows of a request. */
export function visitOf(message: object | undefined): HostVisit | undefined {
  return (message as { [VISIT]?: HostVisit } | undefined)?.[VISIT]
}

/** Finds the request of Express, or the visit that stands in its place. */
export function guardedRequestOf(request: RequestLike): GuardedRequest {
  const { raw, req } = request as { raw?: object; req?: object }
  const visit = visitOf(request) ?? (raw && visitOf(raw)) ?? (req && visitOf(req))
  return (visit ?? request) as GuardedRequest
}

/** Shows a request as Express would have it. */
export function viewOf(request: object): HostRequest {
  const visit = visitOf(request)
  return visit ? nodeView(visit.raw, visit) : (request as HostRequest)
}
