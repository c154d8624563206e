import type { ApplicationPasswords } from '../auth/application-passwords.ts'
import { basicCredentials } from '../auth/basic-credentials.ts'
import type { Nonces } from '../auth/nonce.ts'
import type { Host } from '../host/host.ts'
import type { Token } from '../sessions/token.ts'
import type { UserId } from '../user-id.ts'
import type { HostRequest, HostResponse } from './host-types.ts'
import { RestError } from './rest-error.ts'

/** What REST nonces are made for. */
export const REST_ACTION = 'rest'

/** Who calls a REST route, and how that was proved. */
export interface Caller {
  readonly user: unknown
  readonly userId: UserId
  /** The session of a caller with cookie and nonce; a caller with an application password has none. */
  readonly token: Token | undefined
}

/** Whose session a request carries. */
export interface Reader {
  readonly userId: UserId
  readonly token: Token
}

/** What it takes to tell who calls. */
export interface CallerParts {
  readonly host: Host
  /** Tells whose session a request carries; nonces are made for that session. */
  readerOf(request: HostRequest): Reader | undefined
  readonly passwords: ApplicationPasswords
  readonly nonces: Nonces
  readonly nonceHeader: string
}

/**
 * Tells who calls: by application password when there is an `Authorization` header, else by session cookie and nonce.
 *
 * Undefined is an anonymous caller; so is one with a cookie but without a nonce.
 *
 * @param isOpen Whether the route is open to everybody: credentials for something else are nothing to refuse there.
 *
 * @throws RestError 401 `rest_forbidden` for a wrong password, 403 `rest_cookie_invalid_nonce` for a nonce that is not
 * good, 403 `rest_cross_origin`, 429 `too_many_attempts`.
 */
export async function authenticateCaller(
  parts: CallerParts,
  request: HostRequest,
  response: HostResponse,
  isOpen = false,
): Promise<Caller | undefined> {
  const { authorization } = request.headers
  if (authorization !== undefined && !isOpen) return callerByPassword(parts, request, authorization)
  return callerBySession(parts, request, response)
}

async function callerBySession(
  { host, readerOf, nonces, nonceHeader }: CallerParts,
  request: HostRequest,
  response: HostResponse,
): Promise<Caller | undefined> {
  const session = readerOf(request)
  const nonce = request.headers[nonceHeader.toLowerCase()]
  if (!session || nonce === undefined) return undefined
  refuseCrossOrigin(request)
  const subject = { ...session, action: REST_ACTION }
  if (typeof nonce !== 'string' || !(await nonces.verify(nonce, subject))) {
    throw new RestError(403, 'rest_cookie_invalid_nonce', 'The nonce is wrong or too old. Reload the page.')
  }
  response.setHeader(nonceHeader, await nonces.create(subject))
  const user = (await host.users.findById(String(session.userId))) ?? undefined
  return user === undefined ? undefined : { user, userId: session.userId, token: session.token }
}

/** A browser says where an unsafe request comes from; the nonce alone would do, this holds even if one leaks. */
function refuseCrossOrigin(request: HostRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const site = request.headers['sec-fetch-site']
  const { origin, ':authority': authority, host = authority } = request.headers
  const sameOrigin = site === undefined ? origin === undefined || hostOf(origin) === host : site === 'same-origin'
  if (!sameOrigin) throw new RestError(403, 'rest_cross_origin', 'This request comes from another site.')
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

async function callerByPassword(
  { host, passwords }: CallerParts,
  request: HostRequest,
  authorization: string,
): Promise<Caller> {
  const credentials = basicCredentials(authorization)
  if (!credentials) throw wrongCredentials()
  const { name, password } = credentials
  const attempt = { ip: request.ip ?? request.socket.remoteAddress ?? null, name }
  if (host.attempts && !(await host.attempts.allow(attempt))) {
    throw new RestError(429, 'too_many_attempts', 'Too many attempts. Wait a while.', {
      headers: { 'Retry-After': '60' },
    })
  }
  const found = name.includes('@') ? await host.users.findByEmail(name) : await host.users.findByLogin(name)
  const user = found ?? undefined
  const userId = user === undefined ? undefined : host.users.summary(user).id
  if (!(await passwords.verify(userId, password)) || userId === undefined) {
    // A rate limiter that rejects at the last straw has counted it all the same.
    await Promise.resolve(host.attempts?.failed(attempt)).catch(() => {})
    throw wrongCredentials()
  }
  return { user, userId, token: undefined }
}

function wrongCredentials(): RestError {
  return new RestError(401, 'rest_forbidden', 'The user name or application password is wrong.', {
    headers: { 'WWW-Authenticate': 'Basic realm="sessmgr", charset="UTF-8"' },
  })
}
