import type { ServerResponse } from 'node:http'
import type { HostResponse } from '../guard/host-types.ts'

/** An answer that is more than 200 and JSON. Without it, what a handler returns is the JSON of a 200. */
export class RestAnswer {
  readonly status: number
  readonly type: string
  readonly text: string | Buffer
  readonly headers: Readonly<Record<string, string>>

  constructor(
    text: string | Buffer,
    {
      status = 200,
      type = 'application/json; charset=utf-8',
      headers = {},
    }: { status?: number; type?: string; headers?: Record<string, string> } = {},
  ) {
    this.status = status
    this.type = type
    this.text = text
    this.headers = headers
  }

  /** Makes an answer in JSON that no cache keeps. */
  static json(
    body: object,
    { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    return new RestAnswer(JSON.stringify(body), { status, headers: { 'Cache-Control': 'no-store', ...headers } })
  }
}

/** Sends an answer. */
export function sendAnswer(response: HostResponse, { status, type, text, headers }: RestAnswer): void {
  // What the application lets its answers depend on holds for these, too.
  const given = response.getHeader('Vary')
  if (status !== 304) response.setHeader('Content-Type', type)
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (given !== undefined && 'Vary' in headers) response.setHeader('Vary', `${given}, ${headers.Vary}`)
  if (status !== 304) response.setHeader('Content-Length', Buffer.byteLength(text))
  if (headers['Cache-Control']?.startsWith('public')) keepCookiesOut(response)
  // Listeners of the application run now, before express-session takes the answer for sent: they may throw.
  response.writeHead(status)
  response.end(text)
}

/**
 * Sends a response without cookies: a cache must not hand the cookie of one reader to the next. A session sets its own
 * only when the headers go out, so setting one from now on does nothing.
 */
export function keepCookiesOut(response: ServerResponse): void {
  response.removeHeader('Set-Cookie')
  const setHeader = response.setHeader.bind(response)
  response.setHeader = (name, value) => (name.toLowerCase() === 'set-cookie' ? response : setHeader(name, value))
}

/** Runs an asynchronous answer. When it fails and `onError` fails too, cuts the connection rather than end the process. */
export function answerSafely(
  response: HostResponse,
  answering: Promise<unknown>,
  onError: (error: unknown) => unknown,
): void {
  answering.catch(onError).catch(() => response.destroy())
}
