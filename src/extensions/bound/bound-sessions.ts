import type { IncomingMessage } from 'node:http'
import {
  appendCookie,
  asksForPage,
  changeCookies,
  coreOf,
  type HostResponse,
  htmlText,
  LoginCookie,
  mountPath,
  type Next,
  orderWarning,
  ownPath,
  type RoutedRequest,
  redirect,
  refuseCrossOrigin,
  type Say,
  type ServiceCore,
  type SessmgrErrorCode,
  type StateChange,
  sendBody,
  sendPage,
  type Visit,
  visitOf,
} from '../../extend.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { warn } from '../../ground/logger.ts'
import {
  callable,
  type Declared,
  must,
  type Resolved,
  refuseRequest,
  resolveDeclared,
  whole,
} from '../../ground/option-checks.ts'
import type { Middleware, RequestState, SessionRecord, Sessmgr, Token } from '../../index.ts'
import { type ChallengeAnswer, DeviceProofs, readAnswer } from './device-proofs.ts'

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
   * After how many seconds a browser has to prove again that it has its key, from 60 to 86,400. A copied cookie is
   * useless after at most twice this time. @default 600
   */
  readonly proofSeconds?: number | undefined
  /**
   * Decides whether the session of a request must be bound. A browser that has not bound it within two minutes of the
   * login gets a 401 response, and so do sessions from before. Passport has not run yet, so use
   * `request.sessmgr.session`. @default never
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
  readonly required?: ((request: any) => boolean) | undefined
}

const isPath = (value: unknown) => typeof value === 'string' && /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(value)

const OPTIONS = {
  path: [must('be a path such as "/session"', isPath), '/session'],
  url: [must('be a path such as "/shop/session"', isPath)],
  proofSeconds: [whole(60, 86_400), 600],
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

/**
 * Why a request is refused: its session must be bound, and is not; its browser says that it could not get a proof in
 * time; or it has the cookie of a bound session, but no proof.
 */
type Refusal = Extract<SessmgrErrorCode, 'device_not_bound' | 'device_proof_delayed' | 'device_proof_missing'>

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
      if (route) return void Promise.resolve(route(call)).catch(next)
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
    if (!session || (session.bound === undefined && !this.#parts.required(visit.own))) return undefined
    const { cookie = '', 'secure-session-skipped': skipped } = visit.raw.headers
    const isGood = (holder: string) =>
      this.#proofs.isGood(holder, cookie, () => cookieOf(holder).read(cookie, visit.cookieScope))
    // A new session has a proof of its own, with which its browser registers the key.
    if ((session.bound !== undefined && isGood(session.bound)) || isGood(session.token)) return undefined
    if (session.bound === undefined) return 'device_not_bound'
    return skipped === undefined ? 'device_proof_missing' : 'device_proof_delayed'
  }

  #refuse({ request, response, visit }: Call, refusal: Refusal): void {
    const { say } = this.#core.options.textsFor(visit.own)
    if (refusal === 'device_proof_delayed') response.setHeader('Retry-After', RETRY_SECONDS)
    if (asksForPage(visit.raw))
      return sendPage(request, response, 401, pageOf(say, refusal, this.#at(request, 'leave')))
    sendJson(request, response, 401, new SessmgrError(refusal, `${say(`${refusal}_title`)} ${say(refusal)}`))
  }

  /** Asks the browser to register a key, if the response is to a login. */
  #offer({ request, visit, session: before }: Call): void {
    const { response } = visit
    if (!response) return
    // Express changes it as the request passes on.
    const { baseUrl } = request
    changeCookies(response, () => {
      const { session } = visit.sessmgr ?? {}
      if (!session || session.token === before?.token) return
      if (visit.admitted?.token !== session.token) return this.#warn(UNCHECKED)
      // With only a new id, whoever has copied the cookie of an unbound session could bind it to another key.
      if (session.bound !== undefined || visit.admitted.loggedInAt !== visit.admitted.createdAt) return
      const { cookieScope: scope } = visit
      const path = this.#at({ baseUrl }, 'start')
      if (!path.startsWith((scope.path ?? '/').replace(/\/?$/, '/'))) return this.#warn(OUTSIDE)
      const challenge = this.#proofs.challenge(holderOf(visit.admitted))
      response.setHeader('Secure-Session-Registration', `(ES256);path="${path}";challenge="${challenge}"`)
      const proof = this.#proofs.prove(session.token, Date.now() + REGISTRATION_MS - 2 * this.#parts.proofMs)
      appendCookie(response, cookieOf(session.token).write(proof, REGISTRATION_MS / 1000, scope))
    })
  }

  #warn(why: string): void {
    warn(this.#core.options.logger, 'session-is-never-bound', why)
  }

  /** Responds to a browser that has created a key. */
  async #register(call: Call): Promise<void> {
    const { request, response, visit, session } = call
    const given = readAnswer(headerOf(visit, 'secure-session-response'))
    const key = given?.key
    if (!session || key === undefined || !given?.isSignedBy(key)) return sendJson(request, response, 403, {})
    const { sessions } = this.#core.options.store
    const madeAt = await sessions.changeState(session.userId, this.#bindTo(session.token, given, key))
    if (madeAt === undefined) return sendJson(request, response, 403, {})
    this.#instruct(call, key, madeAt)
  }

  /**
   * Returns a change that binds a session to a key, if the challenge is one for its login, and it is not bound to another
   * key. The change results in the time of the challenge.
   */
  #bindTo(token: Token, { challenge }: ChallengeAnswer, bound: string): StateChange<number | undefined> {
    return ({ sessions }, now) => {
      const place = sessions.findIndex(({ record }) => record.token === token && record.expiresAt > now)
      const session = sessions[place]
      const madeAt = session && this.#proofs.madeAt(holderOf(session.record), challenge)
      if (!session || session.record.bound === bound) return { result: madeAt }
      if (madeAt === undefined || session.record.bound !== null) return { result: undefined }
      const changed = { ...session, record: { ...session.record, bound } }
      return { result: madeAt, next: { sessions: sessions.with(place, changed) } }
    }
  }

  /** Responds to a browser that needs a new proof. */
  async #refresh(call: Call): Promise<void> {
    const { request, response, visit, session } = call
    const key = session?.bound
    if (!session || key === undefined || headerOf(visit, 'sec-secure-session-id') !== key) {
      return sendJson(request, response, 200, { continue: false })
    }
    const given = readAnswer(headerOf(visit, 'secure-session-response'))
    const madeAt = given && this.#proofs.madeAt(key, given.challenge)
    if (madeAt === undefined) {
      response.setHeader('Secure-Session-Challenge', `"${this.#proofs.challenge(key)}";id="${key}"`)
      return sendJson(request, response, 403, {})
    }
    if (given?.isSignedBy(key)) return this.#instruct(call, key, madeAt)
    const about = { ip: visit.ip ?? null, userAgent: visit.raw.headers['user-agent'] ?? null }
    await this.#core.limiter.endStolen(session.userId, session.token, about)
    sendJson(request, response, 200, { continue: false })
  }

  /** Sends a proof, and tells the browser when to get the next one. */
  #instruct({ request, response, visit }: Call, key: string, madeAt: number): void {
    const scope = visit.cookieScope
    const cookie = cookieOf(key)
    const seconds = Math.ceil(this.#parts.proofMs / 1000)
    appendCookie(response, cookie.write(this.#proofs.prove(key, madeAt), seconds, scope))
    sendJson(request, response, 200, {
      session_identifier: key,
      refresh_url: this.#at(request, 'refresh'),
      // Requests to these need no proof. The browser gets one before any other, also before it leaves.
      scope: {
        include_site: false,
        scope_specification: ['start', 'refresh'].map((route) => {
          return { type: 'exclude', domain: '*', path: this.#at(request, route) }
        }),
      },
      credentials: [{ type: 'cookie', ...cookie.describe(scope) }],
    })
  }

  /** Ends a session whose browser has no proof, so that its user can sign in again. */
  async #leave(call: Call): Promise<void> {
    const { request, response, session, visit } = call
    refuseCrossOrigin(request)
    if (session && this.#refusalOf(call)) await this.#core.limiter.release(session.userId, session.token)
    const { referer = '', host } = visit.raw.headers
    const from = URL.canParse(referer) ? new URL(referer) : undefined
    const back = from && from.host === host ? ownPath(from.pathname + from.search) : undefined
    redirect(request, response, back ?? '/')
  }

  /** Returns the path of a route, as the browser must request it. */
  #at(request: Pick<RoutedRequest, 'baseUrl'>, route: string): string {
    const { path, url = mountPath(request).replace(/\/$/, '') + path } = this.#parts
    return `${url}/${route}`
  }
}

/** What the challenge of a registration is for: a login, whatever the id of its session has become since. */
const holderOf = ({ userId, loggedInAt }: SessionRecord) => `${loggedInAt} ${userId}`

/** How many characters of a key or a token are in the name of its cookie. */
const NAME_LENGTH = 8

/** Returns the cookie for a proof. Other applications on the same host have other keys. */
const cookieOf = (holder: string) => new LoginCookie(`sessmgr_bound_${holder.slice(-NAME_LENGTH)}`)

/** Returns a header that contains a string, with or without quotes. */
function headerOf({ raw }: { readonly raw: IncomingMessage }, name: string): string | undefined {
  return raw.headers[name]?.toString().replace(/^"(.*)"$/, '$1')
}

function sendJson(request: RoutedRequest, response: HostResponse, status: number, body: object): void {
  response.statusCode = status
  const text = Buffer.from(JSON.stringify(body))
  sendBody(request, response, { type: 'application/json; charset=utf-8', cache: 'no-store', body: text })
}

function tooEarly() {
  return invalidOption(
    'Mount boundSessions() after the limiter, for the same paths: app.use(limiter); app.use(boundSessions(limiter))',
  )
}

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}' +
  'h1{font-size:1.25rem}button{font:inherit;padding:.5rem 1rem}'

/** Draws the page of a refusal. @param leave Where its button leads, which ends the session. */
function pageOf(say: Say, refusal: Refusal, leave: string): string {
  const text = (key: Parameters<Say>[0]) => htmlText(say(key))
  const title = text(`${refusal}_title`)
  const form = `<form method="post" action="${htmlText(leave)}"><button>${text('device_leave')}</button></form>`
  return (
    `<!doctype html><html lang="${text('lang')}" dir="${text('dir')}"><head><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head><body><main>` +
    `<h1>${title}</h1><p>${text(refusal)}</p>${refusal === 'device_proof_delayed' ? '' : form}</main></body></html>`
  )
}
