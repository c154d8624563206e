import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { GuardedRequest, HostRequest } from '../host-types.ts'
import type { HostedStore } from '../session-exchange.ts'
import { nodeView } from './node-view.ts'

/** Key under which an adapter stores its data on Node's request. All entry points use the same one. */
export const VISIT: unique symbol = Symbol.for('sessmgr.visit')

/** A request as your framework passes it: from Node, Express or Fastify, or a Koa context. */
export type RequestLike =
  | IncomingMessage
  | Http2ServerRequest
  | {
      /** Node's request, in Fastify. */
      readonly raw: IncomingMessage | Http2ServerRequest
    }
  | {
      /** Node's request, in Koa. */
      readonly req: IncomingMessage | Http2ServerRequest
    }

/** Data about a request in a framework other than Express. Express stores the same data on the request itself. */
export interface HostVisit extends Partial<GuardedRequest> {
  readonly raw: IncomingMessage
  /** The store that contains its session. */
  readonly store?: HostedStore
}

/** Attaches an adapter's data to Node's request, or to its session. */
export function showVisit(holder: object, visit: HostVisit): void {
  ;(holder as { [VISIT]?: HostVisit })[VISIT] = visit
}

/** Returns an adapter's data about a request. */
export function visitOf(message: object | undefined): HostVisit | undefined {
  return (message as { [VISIT]?: HostVisit } | undefined)?.[VISIT]
}

/** Returns the Express request, or the visit that replaces it. */
export function guardedRequestOf(request: RequestLike): GuardedRequest {
  const { raw, req } = request as { raw?: object; req?: object }
  const visit = visitOf(request) ?? (raw && visitOf(raw)) ?? (req && visitOf(req))
  return (visit ?? request) as GuardedRequest
}

/** Returns a request as Express would present it. */
export function viewOf(request: object): HostRequest {
  const visit = visitOf(request)
  return visit ? nodeView(visit.raw, visit) : (request as HostRequest)
}
