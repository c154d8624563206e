import type { IncomingMessage } from 'node:http'
import {
  appendCookie,
  asksForPage,
  changeCookies,
  coreOf,
  type HostResponse,
  keepCookiesOut,
  LoginCookie,
  mountPath,
  type Next,
  orderWarning,
  ownPath,
  type RoutedRequest,
  redirect,
  refuseCrossOrigin,
  type ServiceCore,
  type StateChange,
  sendBody,
  type Visit,
  visitOf,
} from '../../extend.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { warn } from '../../ground/logger.ts'
import {
  callable,
  type Declared,
  inWords,
  must,
  type Resolved,
  refuseRequest,
  resolveDeclared,
  whole,
} from '../../ground/option-checks.ts'
import type { Middleware, RequestState, Sessmgr, Token, UserId } from '../../index.ts'
import { DeviceProofs, LOGIN, readAnswer } from './device-proofs.ts'
import { type Refusal, sendRefusal } from './refusal-page.ts'

/** Options of boundSessions(). Omitted or undefined options use their defaults. */
export interface BoundOptions {
  /**
   * Path below which browsers register their key and prove that they have it. It must lie below the path of the session
   * cookie. @default '/session'
   */
  readonly path?: string | undefined
  /** The same path as browsers must request it, if a proxy changes paths. @default as in the request */
  readonly url?: string | undefined
  /**
   * After how many seconds a browser has to prove again that it has its key, from 300 to 86,400. A copied cookie
   * is useless after at most twice this time. @default 600
   */
  readonly proofSeconds?: number | undefined
  /**
   * Other hosts of the same site whose pages send requests to this one, such as `['www.example.com']`. Browsers prove
   * their key for these requests, too. @default none
   */
  readonly initiators?: readonly string[] | undefined
  /**
   * Decides whether the session of a request must be bound. A browser that has not bound it within two minutes of the
   * login gets a 401 response, and so do sessions from before. Passport has not run yet, so use
   * `request.sessmgr.session`. @default never
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
  readonly required?: ((request: any) => boolean) | undefined
}

const isPath = (value: unknown) => typeof value === 'string' && /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(value)

const isHost = (value: unknown) => typeof value === 'string' && /^(\*\.)?[a-z\d-]+(\.[a-z\d-]+)*$/.test(value)
const areHosts = (value: unknown) => Array.isArray(value) && value.every(isHost)

const OPTIONS = {
  path: [must('be a path such as "/session"', isPath), '/session'],
  url: [must('be a path such as "/shop/session"', isPath)],
  proofSeconds: [whole(300, 86_400), 600],
  initiators: [must('be a list of hosts such as ["www.example.com"]', areHosts), []],
  required: [callable('(request) => isAdmin(request.sessmgr.session.userId)'), () => false],
} as const satisfies Declared<BoundOptions>

/**
 * Binds sessions to the devices on which they begin, in browsers that support Device Bound Session Credentials. Returns
 * a middleware, to be mounted directly after the limiter.
 *
 * Experimental: it follows a working draft of the W3C, and may change in a minor release.
 *
 * @throws SessmgrError `invalid_option` for an invalid argument.
 * @example
 * app.use(limiter)
 * app.use(boundSessions(limiter))
 */
export function boundSessions(limiter: Sessmgr, options: BoundOptions = {}): Middleware {
  const core = coreOf(limiter, 'boundSessions(limiter, options)')
  refuseRequest(options, 'boundSessions(limiter)')
  const { proofSeconds, ...resolved } = resolveDeclared(OPTIONS, options, { caller: 'boundSessions' })
  return bindingSessions(core, { ...resolved, proofMs: proofSeconds * 1000 })
}

type Parts = Omit<Resolved<BoundOptions, typeof OPTIONS>, 'proofSeconds'> & { readonly proofMs: number }

/** Creates the middleware of {@link boundSessions}. */
export function bindingSessions(core: ServiceCore, parts: Parts): Middleware {
  const { siteSecrets } = core
  const bound = new BoundSessions(core, parts)
  const serve = (request: RoutedRequest, response: HostResponse, next: Next) => {
    if (siteSecrets.known) bound.serve(request, response, next)
    else siteSecrets.load().then(() => bound.serve(request, response, next), next)
  }
  return serve as unknown as Middleware
}

type Session = NonNullable<RequestState['session']>

/** A request, with what is known of it. */
interface Call {
  readonly request: RoutedRequest
  readonly response: HostResponse
  readonly visit: Visit
  readonly session: Session | undefined
}

/** How long a browser has to register its key after a login, in milliseconds. */
const REGISTRATION_MS = 120_000
/** When a browser that could not prove itself in time should try again, in seconds. */
const RETRY_SECONDS = '60'

/** Why sessions are never bound. */
const UNCHECKED =
  'boundSessions() runs before the session of a request is checked, so no session is bound. Mount it after the limiter; ' +
  'with a Request, call it after calls.check().'
const OUTSIDE =
  'The "path" of boundSessions() is outside the path of the session cookie, so no session is bound. Set a path below ' +
  'that of the cookie, such as "/app/session".'
const PARTITIONED =
  'The session cookie is partitioned, so no session is bound: browsers would not refresh the proof. Remove "partitioned" ' +
  'from its options, or do without boundSessions().'

const LOST =
  'A browser has not kept the cookie of its proof, so its session is not bound. A proxy changes the path or the ' +
  'attributes of cookies: let it leave them as they are.'

class BoundSessions {
  readonly #core: ServiceCore
  readonly #parts: Parts
  readonly #proofs: DeviceProofs
  readonly #routes: ReadonlyMap<string, (call: Call) => unknown>
  readonly #noteEarly: ReturnType<typeof orderWarning>

  constructor(core: ServiceCore, parts: Parts) {
    this.#core = core
    this.#parts = parts
    this.#noteEarly = orderWarning('boundSessions()', core.options.logger)
    // Twice the time, so that neither requests on their way nor other clocks matter.
    this.#proofs = new DeviceProofs(2 * parts.proofMs, () => core.siteSecrets.known?.secrets ?? [])
    this.#routes = new Map([
      [`${parts.path}/start`, (call) => this.#register(call)],
      [`${parts.path}/refresh`, (call) => this.#refresh(call)],
      [`${parts.path}/leave`, (call) => this.#leave(call)],
    ])
  }

  serve(request: RoutedRequest, response: HostResponse, next: Next): void {
    const visit = visitOf(request)
    if (!visit?.passed && typeof (request as { app?: unknown }).app === 'function') return next(tooEarly())
    if (!visit) {
      this.#noteEarly(request)
      return next()
    }
    const { session } = visit.sessmgr ?? {}
    const call = { request, response, visit, session }
    const route = request.method === 'POST' && this.#routes.get((request.url ?? '').split('?', 1)[0] ?? '')
    try {
      if (route) {
        visit.isNoUse = true
        return void Promise.resolve(route(call)).catch(next)
      }
      const refusal = this.#refusalOf(call)
      if (refusal) return this.#refuse(call, refusal)
    } catch (error) {
      return next(error)
    }
    this.#offer(call)
    next()
  }

  /** Finds out whether a request must be refused. */
  #refusalOf({ visit, session }: Call): Refusal | undefined {
    if (!session || (session.bound === undefined && !this.#isRequired(visit))) return undefined
    // A new session has a proof of its own, with which its browser registers the key.
    if (this.#hasProof(visit, session.bound) || this.#hasProof(visit, session.token)) return undefined
    if (session.bound === undefined) return 'device_not_bound'
    const { 'secure-session-skipped': skipped } = visit.raw.headers
    return skipped === undefined ? 'device_proof_missing' : 'device_proof_delayed'
  }

  /** Checks whether a request has a proof of this holder that is still good. */
  #hasProof(visit: Visit, holder = ''): boolean {
    const { cookie = '' } = visit.raw.headers
    return this.#proofs.isGood(holder, cookie, () => cookieOf(holder).read(cookie, visit.cookieScope))
  }

  #isRequired({ own }: Visit): boolean {
    const isRequired = this.#parts.required(own)
    // A promise would count as true.
    if (typeof isRequired === 'boolean') return isRequired
    throw invalidOption(`"required" must return true or false; it returned ${inWords(isRequired)}`)
  }

  #refuse(call: Call, refusal: Refusal): void {
    const { request, response, visit } = call
    visit.isNoUse = true
    const { say } = this.#core.options.textsFor(visit.own)
    const { 'sec-fetch-site': site } = visit.raw.headers
    if (refusal === 'device_proof_delayed') response.setHeader('Retry-After', RETRY_SECONDS)
    if (!asksForPage(visit.raw)) {
      return sendJson(call, 401, new SessmgrError(refusal, `${say(`${refusal}_title`)} ${say(refusal)}`))
    }
    const isLed = refusal === 'device_proof_missing' && (site === 'cross-site' || site === 'same-site')
    const leave = this.#at(request, 'leave')
    sendRefusal(request, response, { say, refusal: isLed ? 'device_led_here' : refusal, leave })
  }

  /** Asks the browser to register a key, if the response is to a login. */
  #offer({ request, visit, session: before }: Call): void {
    const { response } = visit
    if (!response) return
    // Express changes it as the request passes on.
    const { baseUrl } = request
    changeCookies(response, () => {
      const { admitted, sessmgr: { session } = {} } = visit
      if (!session || session.token === before?.token) return
      // Its browser has got a proof of the key. One of a login would let copied cookies go on with another login.
      if (session.bound !== undefined && session.bound === before?.bound) return
      if (admitted?.token !== session.token) return this.#warn(UNCHECKED)
      // A new id is no new login: whoever has copied the cookie by then must get neither a key nor more time.
      const leftMs = REGISTRATION_MS - (admitted.createdAt - admitted.loggedInAt)
      if (leftMs <= 0) return
      const { cookieScope: scope, raw } = visit
      if (scope.partitioned) return this.#warn(PARTITIONED)
      const path = this.#at({ baseUrl }, 'start')
      if (!path.startsWith((scope.path ?? '/').replace(/\/?$/, '/'))) return this.#warn(OUTSIDE)
      const last = before && cookieOf(before.token)
      // Otherwise, the proofs of earlier ids would add up.
      if (last?.read(raw.headers.cookie, scope)) for (const gone of last.remove(scope)) appendCookie(response, gone)
      // Needed even if the session is bound by now: the response with the proof of the key may still be on its way.
      const proof = this.#proofs.prove(session.token, Date.now() + leftMs - 2 * this.#parts.proofMs)
      appendCookie(response, cookieOf(session.token).write(proof, Math.ceil(leftMs / 1000), scope))
      if (session.bound !== undefined) return
      const challenge = this.#proofs.challenge(LOGIN, [admitted.loggedInAt, session.userId, session.token], leftMs)
      response.setHeader('Secure-Session-Registration', `(ES256);path="${path}";challenge="${challenge}"`)
    })
  }

  #warn(why: string): void {
    warn(this.#core.options.logger, 'session-is-never-bound', why)
  }

  /**
   * Responds to a browser that has created a key. The challenge names the login, because browsers send no cookie if
   * another site has begun it, or that of an id which has changed since.
   */
  async #register(call: Call): Promise<void> {
    const given = readAnswer(headerOf(call.visit, 'secure-session-response'))
    const login =
      given && this.#proofs.readChallenge<[loggedInAt: number, userId: UserId, token: Token]>(LOGIN, given.challenge)
    const key = given?.key
    if (!login || key === undefined || !given.isSignedBy(key)) return sendJson(call, 403, {})
    const [madeAt, loggedInAt, userId, token] = login
    const { session, visit } = call
    // Comes with the cookie of the session, unless the browser has refused it. It would refuse that of the key as well.
    if (session?.token === token && session.bound === undefined && !this.#hasProof(visit, token)) {
      this.#warn(LOST)
      return sendJson(call, 403, {})
    }
    const isBound = await this.#core.options.store.sessions.changeState(userId, bindTo(key, loggedInAt, token))
    if (!isBound) return sendJson(call, 403, {})
    // Names the user, so that their session can be found without its id.
    this.#instruct(call, key, madeAt, `${key}.${Buffer.from(String(userId)).toString('base64url')}`)
  }

  /** Responds to a browser that needs a new proof. */
  async #refresh(call: Call): Promise<void> {
    const { response, visit, session } = call
    const asked = headerOf(visit, 'sec-secure-session-id') ?? ''
    const [key = '', user = ''] = asked.split('.')
    if (!session || session.bound !== key) {
      // An empty response keeps the key.
      const hasOtherId = !session && (this.#hasProof(visit, key) || (await isLive(this.#core, key, user)))
      return sendJson(call, 200, hasOtherId ? undefined : { continue: false })
    }
    const given = readAnswer(headerOf(visit, 'secure-session-response'))
    const [madeAt] = (given && this.#proofs.readChallenge(key, given.challenge)) ?? []
    if (madeAt === undefined) {
      response.setHeader('Secure-Session-Challenge', `"${this.#proofs.challenge(key)}";id="${asked}"`)
      return sendJson(call, 403, {})
    }
    if (given?.isSignedBy(key)) return this.#instruct(call, key, madeAt, asked)
    const about = { ip: visit.ip ?? null, userAgent: visit.raw.headers['user-agent'] ?? null }
    await this.#core.limiter.endStolen(session.userId, session.token, about)
    sendJson(call, 200, { continue: false })
  }

  /** Sends a proof, and tells the browser when to get the next one. */
  #instruct(call: Call, key: string, madeAt: number, identifier: string): void {
    const { cookieScope } = call.visit
    const { proofMs, initiators } = this.#parts
    const cookie = cookieOf(key)
    const proof = cookie.write(this.#proofs.prove(key, madeAt), Math.ceil(proofMs / 1000), cookieScope)
    const instructions = {
      session_identifier: identifier,
      refresh_url: this.#at(call.request, 'refresh'),
      // Requests to these need no proof. The browser gets one before any other, also before it leaves.
      scope: {
        include_site: false,
        scope_specification: ['start', 'refresh'].map((route) => {
          return { type: 'exclude', domain: '*', path: this.#at(call.request, route) }
        }),
      },
      allowed_refresh_initiators: initiators,
      credentials: [{ type: 'cookie', ...cookie.describe(cookieScope) }],
    }
    sendJson(call, 200, instructions, proof)
  }

  /** Ends a session whose browser has no proof, so that its user can sign in again. */
  async #leave(call: Call): Promise<void> {
    const { request, response, session, visit } = call
    refuseCrossOrigin(request)
    if (session && this.#refusalOf(call)) await this.#core.limiter.release(session.userId, session.token)
    const { referer = '' } = visit.raw.headers
    // Whose host need not be compared, as only pages of this site come so far.
    const from = URL.canParse(referer) ? new URL(referer) : undefined
    redirect(request, response, (from && ownPath(from.pathname + from.search)) ?? '/')
  }

  /** Returns the path of a route, as the browser must request it. */
  #at(request: Pick<RoutedRequest, 'baseUrl'>, route: string): string {
    const { path, url = mountPath(request).replace(/\/$/, '') + path } = this.#parts
    return `${url}/${route}`
  }
}

/**
 * Returns a change that binds the session of a login to a key, unless it is bound to another one. Results in whether it
 * is bound to the key.
 */
function bindTo(bound: string, loggedInAt: number, token: Token): StateChange<boolean> {
  return ({ sessions }, now) => {
    const ofLogin = sessions.filter(({ record }) => record.loggedInAt === loggedInAt && record.expiresAt > now)
    // Without its token, it has another id now. Then it must be the only one of this millisecond.
    const session =
      ofLogin.find(({ record }) => record.token === token) ?? (ofLogin.length === 1 ? ofLogin[0] : undefined)
    const known = session?.record.bound
    if (!session || known !== null) return { result: known === bound }
    const changed = { ...session, record: { ...session.record, bound } }
    return { result: true, next: { sessions: sessions.with(sessions.indexOf(session), changed) } }
  }
}

/**
 * Checks whether the session of a key is live under another id than its browser has sent. The response with the new id
 * may still be on its way.
 */
async function isLive({ limiter }: ServiceCore, key: string, user: string): Promise<boolean> {
  const userId = Buffer.from(user, 'base64url').toString()
  const sessions = userId === '' ? [] : await limiter.sessions.list(userId)
  return sessions.some(({ bound }) => bound === key)
}

/** How many characters of a key or a token are in the name of its cookie. */
const NAME_LENGTH = 8

/** Returns the cookie for a proof. Other applications on the same host have other keys. */
const cookieOf = (holder: string) => new LoginCookie(`sessmgr_bound_${holder.slice(-NAME_LENGTH)}`)

/** Returns a header that contains a string, with or without quotes. */
function headerOf({ raw }: { readonly raw: IncomingMessage }, name: string): string | undefined {
  return raw.headers[name]?.toString().replace(/^"(.*)"$/, '$1')
}

/**
 * Sends a JSON response, or an empty one.
 *
 * @param cookies The only cookies to send. The id of the session may just have changed, and the browser would lose it if
 * the session middleware sent a cookie here.
 */
function sendJson({ request, response }: Call, status: number, body?: object, ...cookies: string[]): void {
  response.statusCode = status
  keepCookiesOut(response, ...cookies)
  const text = Buffer.from(JSON.stringify(body) ?? '')
  sendBody(request, response, { type: 'application/json; charset=utf-8', cache: 'no-store', body: text })
}

function tooEarly() {
  return invalidOption(
    'Mount boundSessions() after the limiter, for the same paths: app.use(limiter); app.use(boundSessions(limiter))',
  )
}
