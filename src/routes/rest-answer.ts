import type { ServerResponse } from 'node:http'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { HostResponse } from '../guard/host-types.ts'

/** A response with its own status, type or headers. Any other result of a handler is sent as JSON with status 200. */
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

  /** Creates a JSON response that is not cached. */
  static json(
    body: object,
    { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    return new RestAnswer(JSON.stringify(body), { status, headers: { 'Cache-Control': 'no-store', ...headers } })
  }
}

/** Creates a strong entity tag, with quotes. The same body has the same tag in every process. */
function bodyTag(body: string | Buffer): string {
  return `"${nodeCrypto().createHash('sha256').update(body).digest('base64url')}"`
}

/**
 * Returns a response with its entity tag, or 304 without a body if the client already has it.
 *
 * @param ifNoneMatch The tags that the client has, as it sent them.
 */
export function unlessKnown(answer: RestAnswer, ifNoneMatch: string | undefined): RestAnswer {
  const { status, type, text } = answer
  if (status !== 200) return answer
  const { ETag = bodyTag(text) } = answer.headers
  const headers = { ...answer.headers, ETag }
  // A proxy that compresses marks the tag as weak.
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  const isKnown = known?.some((tag) => tag === ETag || tag === '*')
  return isKnown ? new RestAnswer('', { status: 304, headers }) : new RestAnswer(text, { type, headers })
}

/** Sends a response. */
export function sendAnswer(response: HostResponse, { status, type, text, headers }: RestAnswer): void {
  // Keep the `Vary` header that the application has set.
  const given = response.getHeader('Vary')
  const hasBody = status !== 304 && status !== 204
  if (hasBody) response.setHeader('Content-Type', type)
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (given !== undefined && 'Vary' in headers) response.setHeader('Vary', `${given}, ${headers.Vary}`)
  if (hasBody) response.setHeader('Content-Length', Buffer.byteLength(text))
  if (headers['Cache-Control']?.startsWith('public')) keepCookiesOut(response)
  // Send the headers before `end()`: if one of the application's header listeners throws, express-session must not yet
  // consider the response sent.
  response.writeHead(status)
  response.end(text)
}

/**
 * Removes cookies from a response, so that a cache cannot pass one reader's cookie to the next. A session sets its
 * cookie when the headers are sent, so from now on setting cookies has no effect.
 */
export function keepCookiesOut(response: ServerResponse): void {
  response.removeHeader('Set-Cookie')
  const setHeader = response.setHeader.bind(response)
  response.setHeader = (name, value) => (name.toLowerCase() === 'set-cookie' ? response : setHeader(name, value))
}

/**
 * Runs an asynchronous handler. If both it and `onError` fail, closes the connection instead of crashing the process.
 */
export function answerSafely(
  response: HostResponse,
  answering: Promise<unknown>,
  onError: (error: unknown) => unknown,
): void {
  answering.catch(onError).catch(() => response.destroy())
}
