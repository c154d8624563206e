import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import type { HostResponse, RoutedRequest } from '../door/host-types.ts'
import { asUnavailable } from '../door/stores/store-error.ts'
import { RETRY_SOON, SessmgrError } from '../ground/errors.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'

/** An error response of the REST routes. */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: number
  readonly code: string
  readonly data: object
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    { data = {}, headers = {} }: { data?: object; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.data = data
    this.headers = headers
  }
}

/** Returns the `Retry-After` header for a wait until `retryAt`, or for a minute if that is unknown. */
export function retryAfter(retryAt?: number): { readonly 'Retry-After': string } {
  const seconds = retryAt === undefined ? 60 : Math.max(1, Math.ceil((retryAt - Date.now()) / 1000))
  return { 'Retry-After': String(seconds) }
}

/** Creates the response to too many attempts. `retryAt` is when another one is allowed, if known. */
export function tooManyAttempts(retryAt?: number): RestError {
  const headers = retryAfter(retryAt)
  const message = `Too many attempts. Try again in ${headers['Retry-After']} s.`
  return new RestError(429, 'too_many_attempts', message, { headers })
}

/** Creates the response for invalid parameters. */
export function invalidParams(params: Readonly<Record<string, string>>, more = ' Nothing was changed.'): RestError {
  const message = `Invalid parameter(s): ${Object.keys(params).join(', ')}.${more}`
  return new RestError(400, 'rest_invalid_param', message, { data: { params } })
}

/** Creates the response for an invalid query. It need not say that nothing was changed, because queries only read. */
export function badQuery(params: Readonly<Record<string, string>>): RestError {
  return invalidParams(params, '')
}

/** Creates the response to a body that cannot be read. */
export function invalidJson(message: string): RestError {
  return new RestError(400, 'rest_invalid_json', message)
}

/** Returns the error response of a failed check, or undefined if it passed. Rejects with any other error. */
export async function refusalOf(check: Promise<unknown>): Promise<RestError | undefined> {
  try {
    await check
  } catch (error) {
    if (error instanceof RestError) return error
    throw error
  }
  return undefined
}

/** Converts an error of a handler to a response. Returns undefined for an unexpected error, which is only logged. */
export function restErrorOf(given: unknown): RestError | undefined {
  const error = asUnavailable(given)
  if (error instanceof RestError) return error
  if (!(error instanceof SessmgrError)) return undefined
  if (error.code === 'invalid_setting') return invalidParams(error.params ?? {})
  if (error.code === 'session_ended') return new RestError(error.status, error.code, error.message)
  // If a hook was merely too slow, the client can retry.
  if (error.status !== 503 && error.code !== 'hook_timeout') return undefined
  return new RestError(503, error.code, error.message, { headers: RETRY_SOON })
}

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
 * @param ifNoneMatch The client's `If-None-Match` header.
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

/** Below this size, compressing saves less than a packet. */
const LONG_BYTES = 2_048

/**
 * Compresses a response with gzip if it is long and not cached, and if the client accepts gzip. A list of 500 sessions
 * takes 200 kB, most of it repetitive.
 */
export async function compressed(answer: RestAnswer, { headers: { 'accept-encoding': codings } }: RoutedRequest) {
  const { status, type, text, headers } = answer
  if (text.length < LONG_BYTES || headers['Cache-Control'] !== 'no-store') return answer
  if (!acceptsCoding(String(codings ?? ''), 'gzip')) return answer
  const { gzip } = await import('node:zlib')
  const body = await promisify(gzip)(text)
  // The compressed body and the text have different bytes, so the tag must be weak.
  const tag = headers.ETag && { ETag: `W/${headers.ETag}` }
  return new RestAnswer(body, { status, type, headers: { ...headers, ...tag, 'Content-Encoding': 'gzip' } })
}

/** Checks whether an `Accept-Encoding` header accepts a content coding. `q=0` refuses it. */
export function acceptsCoding(header: string, coding: string): boolean {
  return new RegExp(`(^|,)\\s*${coding}\\s*(,|$|;(?!\\s*q=0(\\.0*)?\\s*(,|$)))`).test(header)
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
 * Removes the cookies of a response, for example so that a cache cannot pass one user's cookie to another. Also ignores
 * later cookies, because a session sets its cookie only when the headers are sent.
 *
 * @param own The only cookies to send. @default none
 */
export function keepCookiesOut(response: ServerResponse, ...own: readonly string[]): void {
  response.removeHeader('Set-Cookie')
  if (own.length > 0) response.setHeader('Set-Cookie', own)
  const setHeader = response.setHeader.bind(response)
  response.setHeader = (name, value) => (name.toLowerCase() === 'set-cookie' ? response : setHeader(name, value))
}

/**
 * Calls `onError` if an asynchronous handler fails. If `onError` fails as well, closes the connection instead of
 * crashing the process.
 */
export function answerSafely(
  response: HostResponse,
  answering: Promise<unknown>,
  onError: (error: unknown) => unknown,
): void {
  answering.catch(onError).catch(() => response.destroy())
}

/** A body, its media type, and who may cache it. */
interface PageBody {
  readonly type: string
  readonly cache: string
  readonly body: Buffer
}

/** Sends a page that is not cached. */
export function sendPage(
  request: RoutedRequest,
  response: HostResponse,
  status: number,
  text: string,
  type = 'text/html; charset=utf-8',
): void {
  response.statusCode = status
  response.setHeader('Referrer-Policy', 'same-origin')
  sendBody(request, response, { type, cache: 'no-store', body: Buffer.from(text) })
}

/** Redirects the browser to another page, which it requests with GET. */
export function redirect(request: RoutedRequest, response: HostResponse, location: string, sentence = ''): void {
  response.setHeader('Location', location)
  sendPage(request, response, 303, sentence, 'text/plain; charset=utf-8')
}

/** Sends a body with the status that is set on the response. */
export function sendBody(request: RoutedRequest, response: HostResponse, { type, cache, body }: PageBody): void {
  response.setHeader('Content-Type', type)
  response.setHeader('Cache-Control', cache)
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Content-Length', body.length)
  // Send the headers before `end()`: if one of the application's header listeners throws, express-session must not yet
  // consider the response sent.
  response.writeHead(response.statusCode)
  response.end(request.method === 'HEAD' ? undefined : body)
}
