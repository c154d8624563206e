import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addAbortSignal, Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { CookieScope, RequestState } from '../door/host-types.ts'
import { endedState } from '../door/load.ts'
import { NOTICE_COOKIE, type SignedOutNotice } from '../door/notice/notice.ts'
import { CheckedVisit } from '../door/request/visit.ts'
import { loginOf } from '../door/sessions/known-sessions.ts'
import type { JoinedSessions } from '../door/stores/session-stores.ts'
import { warnOfSecondLimiter } from '../door/warnings.ts'
import { messageOf, SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { logFailure } from '../ground/logger.ts'
import type { Admission } from '../limiter/admit-login.ts'
import { isOrigin } from '../routes/page-addresses.ts'
import type { Middleware, Sessmgr } from '../service/service.ts'
import { coreOf, type ServiceCore } from '../service/service-core.ts'
import { tokenOf } from '../sessions/session-record.ts'
import { answerOf } from './answer-of.ts'
import {
  type ExplicitCalls,
  explicitCalls,
  type LoginCall,
  requireBoth,
  requireSession,
  type SessionCall,
} from './explicit-calls.ts'

type CreateSession = Parameters<ExplicitCalls['login']>[1]

/** How to find the client's address and the origin of a `Request`. */
export interface FetchOptions {
  /** Returns the client's address. Trust a header only if your own proxy sets it. @default unknown */
  readonly ip?: ((request: Request) => string | null | undefined) | undefined
  /** Origin of your site, if requests show another one, as behind a proxy. @default the origin of each request */
  readonly origin?: string | undefined
}

/**
 * A request. In Hono, pass `c.req`, which stays the same if middleware replaces `c.req.raw`.
 */
export type FetchRequest =
  | Request
  | {
      /** The request as the runtime created it. */
      readonly raw: Request
    }

/** The explicit calls, for a `Request`. Pass the same object to all calls: a copy is a different request. */
export interface FetchCalls extends Omit<ExplicitCalls, 'login' | 'check' | 'missing' | 'logout'> {
  /**
   * Performs a login, like `login` of the explicit calls. Reads the address, the user agent, the device cookie and the
   * browser's current session from the request, unless `login` has them. An admitted login ends a current session of
   * another user.
   *
   * With `limiter.choice()`, a login refused with a `choice` waits until the user has chosen on that page. If a script
   * made the request, send it the result as JSON.
   *
   * @throws SessmgrError Like `login` of the explicit calls; in `complete` also if the limit refuses the login.
   */
  login(request: FetchRequest, login: LoginCall, create: CreateSession): Promise<Admission>
  /**
   * Checks whether a session is live. Call it on every request with a session, before `serve`.
   *
   * Call it before anything reads the body, so that a `login` of the same request fails if the session ends while the
   * body arrives.
   */
  check(request: FetchRequest, session: SessionCall): Promise<RequestState>
  /** Looks up how a session ended if your store no longer has it. */
  missing(request: FetchRequest, session: { readonly sessionId: string }): Promise<RequestState>
  /**
   * Frees the slot of a session, and destroys the session in your store. Does nothing if the session is unknown.
   *
   * @param session Include the `request` if the same request logs in again afterwards.
   */
  logout(session: SessionCall & { readonly request?: FetchRequest }): Promise<void>
  /**
   * Returns the headers that the calls for this request have set, most of them `Set-Cookie`, each only once. Append them
   * to your response.
   */
  headers(request: FetchRequest): Headers
  /** Returns why the user of a request was signed out, for a page that shows it. */
  notice(request: FetchRequest): Promise<SignedOutNotice | undefined>
  /** Returns the nonce for REST calls, or undefined for a guest. */
  nonce(request: FetchRequest): Promise<string | undefined>
  /** Records that the user of a request has confirmed their identity; see `limiter.reauthenticated`. */
  reauthenticated(request: FetchRequest): Promise<void>
  /**
   * Returns a function that serves one of sessmgr's middlewares. The function resolves to a response that includes
   * `headers`, or to undefined if the path belongs to your application.
   *
   * @param path Path of the middleware, such as `/devices`, or an empty string for the root.
   * @param middleware `limiter.router()`, `limiter.account()`, `limiter.choice()` or `limiter.admin()`.
   * @throws SessmgrError `invalid_option` for an invalid path. The function rejects with this code if the body was
   * already read.
   */
  serve(path: string, middleware: Middleware): (request: FetchRequest) => Promise<Response | undefined>
}

/**
 * Applies the limit in a framework that passes a `Request`, such as Hono, Next.js or SvelteKit.
 *
 * Call this once, when your application starts.
 *
 * @param sessions Finds and destroys sessions in your store. May include `ip` and `origin`.
 * @throws SessmgrError `invalid_option` if an argument is invalid.
 * @example
 * const calls = fetchCalls(limiter, { exists: (id) => store.has(id), destroy: (id) => store.delete(id) })
 */
export function fetchCalls(limiter: Sessmgr, sessions: JoinedSessions & FetchOptions): FetchCalls {
  const core = coreOf(limiter, 'fetchCalls(limiter, sessions)')
  const { notices, asker, options } = core
  const calls = explicitCalls(limiter, sessions)
  const { ip, origin } = sessions
  if (ip !== undefined && typeof ip !== 'function') throw invalidOption('"ip" must be a function')
  if (origin !== undefined && !isOrigin(origin)) throw invalidOption('"origin" must look like "https://example.com"')
  warnOfSecondLimiter(options.store, options.logger)
  const visits = new WeakMap<FetchRequest, FetchVisit>()

  function visitFor(given: FetchRequest): FetchVisit {
    const known = visits.get(given)
    if (known) return known
    const request = requestOf(given)
    if (typeof Object(request).headers?.get !== 'function') throw invalidOption('The request must be a Request')
    const visit = visits.get(request) ?? new FetchVisit(given, ip?.(request) ?? undefined, origin)
    visits.set(given, visit).set(request, visit)
    return visit
  }

  /**
   * Records the state of a request. If its session has ended, keeps the notice for the next page.
   *
   * @param found Undefined if the session is no longer in its store.
   */
  async function identify(
    visit: FetchVisit,
    sessionId: string,
    found: RequestState | undefined,
  ): Promise<RequestState> {
    visit.identify(sessionId, found ?? {})
    if (found?.session) return found
    const token = tokenOf(sessionId)
    const find = async () => found?.ended ?? endedState(core.limiter, token, 'missing')
    const state = { ...found, ended: await notices.keep(visit.raw, token, find, visit.response) }
    visit.identify(sessionId, state)
    return state
  }

  return {
    ...calls,
    async login(request, call, create) {
      const visit = visitFor(request)
      const isPending = visit.chosen !== undefined
      const admission = await logIn({ core, calls }, visit, call, create)
      if (admission.admitted) return admission
      const { message, choice, label } = admission
      const page = asker()
      const asked = choice && page?.hasComplete && (await page.ask({ visit, ...call, choice, label, isPending }))
      // The choice page needs an error if the login that it continues is refused.
      if (isPending) throw asked || new SessmgrError('login_limit_reached', message)
      // The sessions in `choice` have addresses, which the page may be configured to leave out.
      if (!asked) return admission
      const toJSON = () => ({ admitted: false, ...asked.toJSON() })
      return Object.assign(admission, { choice: { ...choice, url: asked.choice?.url }, toJSON })
    },
    check: async (request, session) => identify(visitFor(request), session?.sessionId, await calls.check(session)),
    async missing(request, { sessionId }) {
      if (sessionId !== '') requireSession(sessionId)
      return identify(visitFor(request), sessionId, undefined)
    },
    async logout({ request, ...session }) {
      requireBoth(session)
      if (request) await giveUp(core, visitFor(request), session)
      return calls.logout(session)
    },
    headers: (request) => visitFor(request).takeHeaders(),
    async notice(request) {
      const { raw, response } = visitFor(request)
      return limiter.notice(raw, response)
    },
    nonce: async (request) => limiter.nonce(visitFor(request).raw),
    reauthenticated: async (request) => limiter.reauthenticated(visitFor(request).raw),
    serve: (path, middleware) => serving(path, middleware, visitFor),
  }
}

/** Ends a session that a request gives up, so that the same request may log its user in again. */
async function giveUp({ limiter }: ServiceCore, visit: FetchVisit, { userId, sessionId }: SessionCall): Promise<void> {
  const token = tokenOf(sessionId)
  const ends = limiter.giveUp(userId, token)
  visit.giveUp(token, ends)
  if (visit.sessionID === sessionId) visit.identify('', {})
  await ends
}

interface LoginParts {
  readonly core: ServiceCore
  readonly calls: ExplicitCalls
}

/** Performs the login of a request. */
async function logIn(
  { core, calls }: LoginParts,
  visit: FetchVisit,
  login: LoginCall,
  create: CreateSession,
): Promise<Admission> {
  const { sessmgr: before, sessionID: left, chosen } = visit
  const { headers } = visit.request
  const device = core.devices && { cookies: headers.get('cookie'), secure: visit.cookieScope.secure === true }
  const client = { ip: visit.ip ?? null, userAgent: headers.get('user-agent'), device }
  const replaces = before.session && left
  const session = await visit.dependsOn(login.userId)
  const told = { requestOf: () => visit.own, terms: chosen && { label: chosen.label ?? null, counts: true } }
  const isSame = session !== undefined && session.token === before.session?.token
  const state = session && !isSame ? { session } : isSame ? before : (login.state ?? before)
  const call = { ...client, ...told, replaces, ends: chosen?.ends, ...login, state }
  /** Ends a session that no browser uses any more. Never rejects. */
  const leave = (session: SessionCall) =>
    calls.logout(session).catch((error) => {
      const message = 'A session that nobody uses any more could not be ended. It stays until it expires.'
      logFailure(core.options.logger, message, { error: messageOf(error) })
    })
  let sessionId = ''
  const admission = await calls.login(call, async () => {
    const created = await create()
    sessionId = created?.sessionId
    return { ...created, takenUp: false }
  })
  if (!admission.admitted) return admission
  const { userId, counts } = admission.session
  const other = before.session?.userId
  // A user who acts as another may go back, so the application ends that session itself.
  const isOther = other !== undefined && String(other) !== String(userId) && left !== sessionId && counts
  if (isOther) await leave({ userId: other, sessionId: left })
  visit.identify(sessionId, { session: loginOf(admission.session) })
  visit.admitted = admission.session
  if (admission.deviceCookie) visit.response.appendHeader('Set-Cookie', admission.deviceCookie)
  if (headers.get('cookie')?.includes(NOTICE_COOKIE)) (await core.notices.load()).clearNotice(visit, visit.response)
  return admission
}

function requestOf(given: FetchRequest): Request {
  return 'raw' in Object(given) ? (given as { raw: Request }).raw : (given as Request)
}

/** A `Request`. Node's objects for it are created when a call needs them. */
class FetchVisit extends CheckedVisit {
  readonly ip: string | undefined
  readonly #given: FetchRequest
  readonly #origin: string | undefined
  #raw: IncomingMessage | undefined
  #response: ServerResponse | undefined

  constructor(given: FetchRequest, ip: string | undefined, origin: string | undefined) {
    super()
    this.#given = given
    this.ip = ip
    this.#origin = origin
  }

  override get own(): object {
    return this.#given
  }

  get request(): Request {
    return requestOf(this.#given)
  }

  get raw(): IncomingMessage {
    if (this.#raw) return this.#raw
    const { method } = this.request
    const { pathname, search } = new URL(this.request.url)
    const { protocol, host } = new URL(this.#origin ?? this.request.url)
    // There is no connection, so this socket has only the properties that are read.
    const socket = { encrypted: protocol === 'https:', remoteAddress: this.ip, destroyed: false }
    // The `Host` header takes precedence: in Next.js, the URL contains the name of the machine.
    const headers: Record<string, string> = { host, ...Object.fromEntries(this.request.headers) }
    if (this.#origin) headers.host = host
    // The later origin check compares only hosts, because the protocol may be unknown in Express.
    if (this.#origin && headers.origin !== undefined && headers.origin !== this.#origin) headers.origin = 'null'
    const version = { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 }
    const sent = { method, url: pathname + search, headers, rawHeaders: Object.entries(headers).flat(), ip: this.ip }
    this.#raw = Object.assign(new IncomingMessage(socket as unknown as Socket), version, sent)
    this.standFor(this.#raw)
    return this.#raw
  }

  /** The response that collects the headers of the calls for this request. */
  override get response(): ServerResponse {
    this.#response ??= new ServerResponse(this.raw)
    return this.#response
  }

  override get cookieScope(): CookieScope {
    const isSecure = (this.#origin ?? this.request.url).startsWith('https:')
    // A proxy may have terminated HTTPS. A client that forges the header only loses its own cookie.
    return { secure: isSecure || /^https\b/.test(this.request.headers.get('x-forwarded-proto') ?? '') }
  }

  /** Returns the headers that the calls for this request have set, each only once. */
  takeHeaders(): Headers {
    const response = this.#response
    this.#response = undefined
    // Triggers code that runs just before the headers are sent.
    response?.writeHead(response.statusCode)
    // The application decides on caching.
    const { 'cache-control': _, ...headers } = response?.getHeaders() ?? {}
    return headersOf(headers)
  }
}

function headersOf(given: OutgoingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(given)) {
    for (const value of [values ?? []].flat()) headers.append(name, String(value))
  }
  return headers
}

/** Matches paths without `//` and dot segments, even escaped: a `URL` would change them or read them as a host. */
const MOUNT_PATH = /^(\/(?!(\.|%2e){1,2}(\/|$))[^/?#\\\p{Cc}]+)*$/iu

/** Returns a function that runs a middleware for requests below a path. */
function serving(path: string, middleware: Middleware, visitFor: (request: FetchRequest) => FetchVisit) {
  if (!MOUNT_PATH.test(path)) {
    throw invalidOption('The path of serve() must look like "/devices", without "//" or ".."')
  }
  const baseUrl = new URL(path, 'http://localhost').pathname.replace(/\/$/, '')
  return async (given: FetchRequest): Promise<Response | undefined> => {
    const visit = visitFor(given)
    const { request } = visit
    const { pathname, search } = new URL(request.url)
    if (pathname !== baseUrl && !pathname.startsWith(`${baseUrl}/`)) return undefined
    const url = (pathname.slice(baseUrl.length) || '/') + search
    const payload = bodyOf(request)
    const mounting = { baseUrl, url, originalUrl: pathname + search, ip: visit.ip, own: given, payload }
    // Stops reading a body that is too large. A body that was not read stays available to the application.
    const answer = await answerOf(middleware, visit.raw, mounting).finally(() => payload.destroy())
    // The middleware took this error for an incomplete body.
    if (payload.errored instanceof SessmgrError) throw payload.errored
    if (!answer) return undefined

    const { status, body, isPublic } = answer
    // A stream that has already failed would look like an empty one.
    if (body instanceof Readable && body.destroyed) throw body.errored
    const headers = headersOf(answer.headers)
    const others = visit.takeHeaders()
    if (!isPublic) for (const [name, value] of others) headers.append(name, value)
    const isEmpty = request.method === 'HEAD' || [204, 205, 304].includes(status)
    const content = body instanceof Readable ? Readable.toWeb(addAbortSignal(request.signal, body)) : body
    return new Response(isEmpty ? null : (content as Blob | undefined), { status, headers })
  }
}

/** Returns the body of a request as a stream. If nothing reads the stream, the application can still read the body. */
function bodyOf(request: Request): Readable {
  return Readable.from(partsOf(request), { objectMode: false })
}

async function* partsOf({ body, bodyUsed, signal }: Request): AsyncGenerator<Buffer> {
  if (bodyUsed || body?.locked) {
    throw invalidOption("The request's body was already read. Call the function from serve() first")
  }
  if (body) yield* Readable.fromWeb(body as ReadableStream, { signal })
}

/**
 * Returns the response for an error of sessmgr, or undefined for any other error.
 *
 * @example
 * ```ts
 * app.onError((error, c) => errorResponse(error) ?? c.text('Internal Server Error', 500))
 * ```
 */
export function errorResponse(error: unknown): Response | undefined {
  if (!(error instanceof SessmgrError)) return undefined
  const { status, headers } = error
  return Response.json(error, { status, headers: { 'Cache-Control': 'no-store', ...headers } })
}
