import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { HostRequest } from '../host-types.ts'

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

/** A request of a host that is not Express. */
export interface HostVisit {
  /** The request as everything that was made for Express sees it. */
  readonly view: HostRequest
}

/** Finds the request of Express, or what an adapter shows in its place. */
export function hostRequestOf(request: RequestLike): HostRequest {
  const { raw, req } = request as { raw?: unknown; req?: unknown }
  for (const message of [request, raw, req]) {
    const visit = (message as { [VISIT]?: HostVisit } | undefined)?.[VISIT]
    if (visit) return visit.view
  }
  return request as HostRequest
}
