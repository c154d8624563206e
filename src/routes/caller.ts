import type { NotedPasswords } from '../auth/application-passwords.ts'
import type { Nonces } from '../auth/nonce.ts'
import type { HostResponse, RoutedRequest } from '../door/host-types.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Host } from '../host/host.ts'
import type { FindSignedIn } from '../host/users.ts'
import { plainAddress } from '../sessions/address.ts'
import type { Login, Token } from '../sessions/session-record.ts'
import { RestError, tooManyAttempts } from './answer.ts'
import { REST_ACTION } from './late-routes.ts'

/** Length of the longest email address. Longer names are rejected, because rate limiters store names. */
const MAX_NAME = 320

export interface Caller {
  readonly user: unknown
  readonly userId: UserId
  /** Token of the caller's session; undefined for a caller with an application password. */
  readonly token: Token | undefined
}

/** Names the caller of a route as the administrator who makes a change. */
export const byAdmin = (caller: Caller | undefined) => ({ by: 'admin', actor: caller?.userId }) as const

/** Dependencies for identifying the caller. */
export interface CallerParts {
  readonly host: Host
  /** Returns the session of a request and its user. Nonces are created for that session. */
  readerOf(request: object): Login | undefined
  /** Checks whether the session of a request is still live. */
  isLive(reader: Login): Promise<boolean>
  readonly findSignedIn: FindSignedIn
  readonly passwords: NotedPasswords
  readonly nonces: Nonces
  readonly nonceHeader: string
}

/**
 * Identifies the caller by session cookie and nonce, or by application password in an `Authorization` header.
 *
 * A session with a nonce takes precedence, because a proxy may use the header for its own password. Returns undefined
 * for an anonymous caller, or one with a cookie but no nonce.
 *
 * @param route `isOpen`: whether the route is public, so that invalid credentials are ignored. `isOwn`, `needsSession`:
 * as in `RestRoute`.
 * @throws RestError 401 `rest_forbidden` for a wrong password, 403 `rest_cookie_invalid_nonce` for an invalid nonce,
 * 403 `rest_cross_origin`, 429 `too_many_attempts`.
 */
export async function authenticateCaller(
  parts: CallerParts,
  request: RoutedRequest,
  response: HostResponse,
  { isOpen = false, isOwn = false, needsSession = false } = {},
): Promise<Caller | undefined> {
  const { authorization } = request.headers
  const hasNonce = parts.nonceHeader.toLowerCase() in request.headers
  const session = hasNonce ? parts.readerOf(request) : undefined
  const isScript = authorization !== undefined && !isOpen && !isOwn && !needsSession && !session
  if (isScript) return callerByPassword(parts, request, authorization)
  return session && callerBySession(parts, request, response, session, isOwn)
}

/** Identifies a caller again later. Resolves to undefined if the session, the password or the user no longer exists. */
export async function findCallerAgain(
  parts: CallerParts,
  request: RoutedRequest,
  caller: Caller,
  isOwn: boolean,
): Promise<Caller | undefined> {
  const { userId, token } = caller
  if (token !== undefined) {
    if (!(await parts.isLive({ userId, token }))) return undefined
    return isOwn ? caller : holderOf(parts, { userId, token })
  }
  const credentials = basicCredentials(request.headers.authorization ?? '')
  return credentials && ownerOf(parts, credentials)
}

async function callerBySession(
  parts: CallerParts,
  request: RoutedRequest,
  response: HostResponse,
  session: Login,
  isOwn: boolean,
): Promise<Caller | undefined> {
  const { nonces, nonceHeader } = parts
  const nonce = request.headers[nonceHeader.toLowerCase()]
  refuseCrossOrigin(request)
  const subject = { ...session, action: REST_ACTION }
  if (typeof nonce !== 'string' || !(await nonces.verify(nonce, subject))) {
    throw new RestError(403, 'rest_cookie_invalid_nonce', 'The nonce is invalid or has expired. Reload the page.')
  }
  response.setHeader(nonceHeader, await nonces.create(subject))
  return isOwn ? { user: undefined, ...session } : holderOf(parts, session)
}

async function holderOf({ findSignedIn }: CallerParts, { userId, token }: Login): Promise<Caller | undefined> {
  const user = await findSignedIn(userId)
  return user === undefined ? undefined : { user, userId, token }
}

/**
 * Refuses requests that a browser marks as cross-origin, in case a nonce has leaked.
 *
 * @throws RestError 403 `rest_cross_origin`.
 */
export function refuseCrossOrigin(request: RoutedRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const site = request.headers['sec-fetch-site']
  // HTTP/2 sends the host as `:authority`, which makes a `host` header meaningless.
  const { origin, host: field, ':authority': host = field } = request.headers
  const sameOrigin = site === undefined ? origin === undefined || hostOf(origin) === host : site === 'same-origin'
  if (!sameOrigin) throw new RestError(403, 'rest_cross_origin', 'This request comes from another website.')
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

async function callerByPassword(parts: CallerParts, request: RoutedRequest, authorization: string): Promise<Caller> {
  // Browsers repeat stored Basic credentials, even in requests from other sites.
  refuseCrossOrigin(request)
  const credentials = basicCredentials(authorization)
  if (!credentials || credentials.name.length > MAX_NAME) throw wrongCredentials()
  const caller = await ownerOf(parts, credentials)
  // A correct password works even after too many wrong attempts, because its 142 random bits cannot be guessed.
  if (caller) return caller
  const { attempts } = parts.host
  const attempt = { ip: plainAddress(request.ip ?? request.socket.remoteAddress ?? null), name: credentials.name }
  if (attempts && !(await attempts.allow(attempt))) {
    throw tooManyAttempts()
  }
  await attempts?.failed(attempt)
  throw wrongCredentials()
}

/** Finds the user that an application password belongs to. An unknown name takes as long as a wrong password. */
async function ownerOf(
  { host, passwords }: CallerParts,
  { name, password }: BasicCredentials,
): Promise<Caller | undefined> {
  const found = name.includes('@') ? await host.users.findByEmail(name) : await host.users.findByLogin(name)
  const user = found ?? undefined
  const userId = user === undefined ? undefined : host.users.summary(user).id
  const isRight = await passwords.verify(userId, password)
  return isRight && userId !== undefined ? { user, userId, token: undefined } : undefined
}

function wrongCredentials(): RestError {
  return new RestError(401, 'rest_forbidden', 'The user name or application password is wrong.', {
    headers: { 'WWW-Authenticate': 'Basic realm="sessmgr", charset="UTF-8"' },
  })
}

/** User name and password from an `Authorization: Basic` header. */
interface BasicCredentials {
  readonly name: string
  readonly password: string
}

const HEADER = /^basic +([a-z0-9+/]+={0,2}) *$/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 forbids them in both parts.
const CONTROL = /[\u0000-\u001f\u007f]/

/** Parses the header as defined in RFC 7617. Returns undefined if it is malformed. */
export function basicCredentials(header: string): BasicCredentials | undefined {
  const encoded = HEADER.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const decoded = decodeUtf8(Buffer.from(encoded, 'base64'))
  const colon = decoded?.indexOf(':') ?? -1
  if (decoded === undefined || colon < 1 || CONTROL.test(decoded)) return undefined
  return { name: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Checks that a caller has a capability.
 *
 * @throws RestError `rest_forbidden` with 401 for an anonymous caller, or 403 for one without the capability.
 */
export async function requireCapability(
  host: Pick<Host, 'can'>,
  caller: Caller | undefined,
  capability: string,
): Promise<Caller> {
  const known = await requireCaller(caller)
  if (!(await host.can(known.user, capability))) {
    throw new RestError(403, 'rest_forbidden', 'Your account is not allowed to do this.')
  }
  return known
}

/** Checks that a caller is not anonymous. @throws RestError 401 `rest_forbidden`. */
export async function requireCaller(caller: Caller | undefined): Promise<Caller> {
  if (caller) return caller
  // Not Basic, because browsers would then show their own login dialog.
  const headers = { 'WWW-Authenticate': 'Session realm="sessmgr"' }
  throw new RestError(401, 'rest_forbidden', 'Sign in first.', { headers })
}
