import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { viewOf } from '../guard/request/host-visit.ts'
import { nodeView } from '../guard/request/node-view.ts'
import type { Middleware } from '../service/service.ts'

/** What a middleware answered. */
export interface MiddlewareAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: string | Buffer | undefined
  /** Whether caches may keep it for everybody: no cookie may go along then. */
  readonly isPublic: boolean
}

/** Where a middleware is mounted, and what the host knows of the request. */
export interface Mounting {
  /** Path below which it stands; empty for the root. */
  readonly baseUrl: string
  /** Path below that, and the query. */
  readonly url: string
  readonly originalUrl: string
  readonly ip: string
  /** What a body parser of the host has read. */
  readonly body?: unknown
  /** Where the host gives the body, when that is not the request itself. */
  readonly payload?: Readable | undefined
  /** What the application lets its answers depend on. */
  readonly vary: string | undefined
}

/**
 * Runs a middleware that was made for Express and returns its answer, for the host to send: so the host's session and
 * cookies go along. Undefined when the middleware passes the request on.
 */
export function answerOf(
  middleware: Middleware,
  raw: IncomingMessage,
  { vary, payload = raw, ...mounted }: Mounting,
): Promise<MiddlewareAnswer | undefined> {
  const reading = {
    on: payload.on.bind(payload),
    get readableEnded() {
      return payload.readableEnded
    },
    get destroyed() {
      return payload.destroyed
    },
  }
  const request = nodeView(viewOf(raw), Object.assign(reading, mounted, { isMounted: true }))
  return new Promise((resolve, reject) => {
    const response = new ServerResponse(raw)
    if (vary) response.setHeader('Vary', vary)
    response.end = ((text?: string | Buffer) => {
      const headers = response.getHeaders()
      const isPublic = /^public\b/.test(String(headers['cache-control']))
      resolve({ status: response.statusCode, headers, body: text, isPublic })
      return response
    }) as ServerResponse['end']
    response.destroy = (error) => {
      reject(error ?? new Error('The answer could not be made.'))
      return response
    }
    middleware(request, response, (error) => (error ? reject(error) : resolve(undefined)))
  })
}
