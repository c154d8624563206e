import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import type { RoutedRequest } from '../door/host-types.ts'
import { OWN_REQUEST, VISIT, visitOf } from '../door/request/visit.ts'
import type { Middleware } from '../service/service.ts'

/** The response of a middleware. */
export interface MiddlewareAnswer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  /** A stream if the middleware writes in parts. */
  readonly body: string | Buffer | Readable | undefined
  /** Whether shared caches may store the response. If so, it must not set cookies. */
  readonly isPublic: boolean
}

/** Where a middleware is mounted, and the framework's data about the request. */
export interface Mounting {
  /** Mount path, or an empty string for the root. */
  readonly baseUrl: string
  /** The rest of the path, and the query. */
  readonly url: string
  readonly originalUrl: string
  readonly ip: string | undefined
  /** The request as the framework passes it to the application. */
  readonly own: object
  /** The body, if a body parser has read it. */
  readonly body?: unknown
  /** The stream of the body, if the framework has replaced it. @default the request */
  readonly payload?: Pick<Readable, 'on' | 'readableEnded' | 'destroyed'> | undefined
  /** The `Vary` header that the application has set. */
  readonly vary?: string | undefined
}

/**
 * Runs an Express middleware and returns its response, so that the framework can send the response with its own
 * cookies. Resolves to undefined if the middleware calls `next`.
 */
export function answerOf(
  middleware: Middleware,
  raw: IncomingMessage,
  { vary, own, payload = raw, ...mounted }: Mounting,
): Promise<MiddlewareAnswer | undefined> {
  const { method, headers, socket } = raw
  const reading = {
    on: payload.on.bind(payload),
    get readableEnded() {
      return payload.readableEnded
    },
    get destroyed() {
      return payload.destroyed
    },
  }
  const sent = { method, headers, socket, [VISIT]: visitOf(raw), [OWN_REQUEST]: own }
  const request: RoutedRequest = Object.assign(reading, sent, mounted)
  return new Promise((resolve, reject) => {
    const response = new ServerResponse(raw)
    if (vary) response.setHeader('Vary', vary)
    const parts = new PassThrough()
    // The framework listens for errors only after its own hooks. Without a listener, an error would crash the process.
    parts.on('error', () => {})
    for (const event of ['drain', 'finish', 'close']) parts.on(event, () => response.emit(event))
    let isInParts = false
    const answer = (body: MiddlewareAnswer['body']) => {
      // Triggers code that runs just before the headers are sent.
      if (!response.headersSent) response.writeHead(response.statusCode)
      const headers = response.getHeaders()
      const isPublic = /^public\b/.test(String(headers['cache-control']))
      resolve({ status: response.statusCode, headers, body, isPublic })
    }
    response.write = ((part: string | Buffer) => {
      if (!isInParts) answer(parts)
      isInParts = true
      return parts.write(part)
    }) as ServerResponse['write']
    response.end = ((text?: string | Buffer) => {
      if (isInParts) parts.end(text)
      else answer(text)
      return response
    }) as ServerResponse['end']
    response.destroy = (error = new Error('The middleware failed without an error.')) => {
      reject(error)
      if (isInParts) parts.destroy(error)
      return response
    }
    middleware(request as unknown as IncomingMessage, response, (error) => {
      if (error) reject(error)
      else resolve(undefined)
      // Once the framework sends the parts, so that it notices the failure.
      if (isInParts && error) setImmediate(() => parts.destroy(error as Error))
    })
  })
}
