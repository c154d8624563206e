import type { IncomingMessage } from 'node:http'
import {
  asksForPage,
  changeCookies,
  cookiesOf,
  coreOf,
  type HostResponse,
  LoginCookie,
  mountPath,
  type Next,
  type RoutedRequest,
  redirect,
  type ServiceCore,
  type StateChange,
  sendBody,
  sendPage,
  type Visit,
  visitOf,
} from '../../extend.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { type Resolved, refuseRequest, resolveDeclared } from '../../ground/option-checks.ts'
import type { Middleware, RequestState, Sessmgr } from '../../index.ts'
import { type BoundOptions, OPTIONS } from './bound-options.ts'
import { readProof } from './device-key.ts'
import { DeviceProofs } from './device-proofs.ts'
import { pageOf, type Refusal } from './refusal-page.ts'

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
const REGISTRATION_MS = 60_000
/** When a browser that could not prove itself in time should try again, in seconds. */
const RETRY_SECONDS = '30'

class BoundSessions {
  readonly #core: ServiceCore
  readonly #parts: Parts
  readonly #proofs: DeviceProofs
  readonly #cookie = new LoginCookie('sessmgr_bound')
  readonly #routes: ReadonlyMap<string, (call: Call) => unknown>

  constructor(core: ServiceCore, parts: Parts) {
    this.#core = core
    this.#parts = parts
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
    if (!visit) return next()
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
    const find = (cookies: string) => this.#cookie.read(cookies, visit.cookieScope)
    // A new session has a proof of its own, with which its browser registers the key.
    if (session.bound !== undefined && this.#proofs.isGood(session.bound, cookie, find)) return undefined
    if (this.#proofs.isGood(session.token, cookie, find)) return undefined
    if (session.bound === undefined) return 'device_not_bound'
    return skipped === undefined ? 'device_proof_missing' : 'device_proof_delayed'
  }

  #refuse({ request, response, visit }: Call, refusal: Refusal): void {
    const { say } = this.#core.options.textsFor(visit.own)
    if (refusal === 'device_proof_delayed') response.setHeader('Retry-After', RETRY_SECONDS)
    if (asksForPage(visit.raw))
      return sendPage(request, response, 401, pageOf(say, refusal, this.#at(request, 'leave')))
    answer(request, response, 401, new SessmgrError(refusal, `${say(`${refusal}_title`)} ${say(refusal)}`))
  }

  /** Asks the browser to register a key, if the response is to a login. */
  #offer({ request, visit, session: before }: Call): void {
    const { response } = visit
    if (!response) return
    // Express changes it as the request passes on.
    const { baseUrl } = request
    changeCookies(response, () => {
      const { session } = visit.sessmgr ?? {}
      if (!session || session.token === before?.token || session.bound !== undefined) return
      const challenge = this.#proofs.challenge(session.token)
      const path = this.#at({ baseUrl }, 'start')
      response.setHeader('Secure-Session-Registration', `(ES256);path="${path}";challenge="${challenge}"`)
      const proof = this.#proofs.prove(session.token, Date.now() + 2 * (REGISTRATION_MS - this.#parts.proofMs))
      const cookie = this.#cookie.write(proof, REGISTRATION_MS / 1000, visit.cookieScope)
      response.setHeader('Set-Cookie', [...cookiesOf(response), cookie])
    })
  }

  /** Responds to a browser that has created a key. */
  async #register(call: Call): Promise<void> {
    const { request, response, visit, session } = call
    const proof = readProof(headerOf(visit, 'secure-session-response'))
    const madeAt = session && proof && this.#proofs.madeAt(session.token, proof.challenge)
    const key = madeAt !== undefined && proof?.key !== undefined && proof.isSignedBy(proof.key) ? proof.key : undefined
    const { sessions } = this.#core.options.store
    if (!session || madeAt === undefined || key === undefined) return answer(request, response, 403, {})
    if (!(await sessions.changeState(session.userId, bindTo(session.token, key))))
      return answer(request, response, 403, {})
    this.#instruct(call, key, madeAt)
  }

  /** Responds to a browser that needs a new proof. */
  async #refresh(call: Call): Promise<void> {
    const { request, response, visit, session } = call
    const key = session?.bound
    if (!session || key === undefined || headerOf(visit, 'sec-secure-session-id') !== key) {
      return answer(request, response, 200, { continue: false })
    }
    const proof = readProof(headerOf(visit, 'secure-session-response'))
    const madeAt = proof && this.#proofs.madeAt(key, proof.challenge)
    if (madeAt === undefined) {
      response.setHeader('Secure-Session-Challenge', `"${this.#proofs.challenge(key)}";id="${key}"`)
      return answer(request, response, 403, {})
    }
    if (proof?.isSignedBy(key)) return this.#instruct(call, key, madeAt)
    const about = { ip: visit.ip ?? null, userAgent: visit.raw.headers['user-agent'] ?? null }
    await this.#core.limiter.endStolen(session.userId, session.token, about)
    answer(request, response, 200, { continue: false })
  }

  /** Sends a proof, and tells the browser when to get the next one. */
  #instruct({ request, response, visit }: Call, key: string, madeAt: number): void {
    const scope = visit.cookieScope
    const { name, attributes } = this.#cookie.describe(scope)
    const cookie = this.#cookie.write(this.#proofs.prove(key, madeAt), Math.ceil(this.#parts.proofMs / 1000), scope)
    response.setHeader('Set-Cookie', [...cookiesOf(response), cookie])
    answer(request, response, 200, {
      session_identifier: key,
      refresh_url: this.#at(request, 'refresh'),
      scope: {
        include_site: false,
        scope_specification: [{ type: 'exclude', domain: '*', path: this.#at(request, '') }],
      },
      credentials: [{ type: 'cookie', name, attributes }],
    })
  }

  /** Ends a session whose browser has no proof, so that its user can sign in again. */
  async #leave(call: Call): Promise<void> {
    const { request, response, session, visit } = call
    if (session && this.#refusalOf(call)) await this.#core.limiter.release(session.userId, session.token)
    const { referer = '', host } = visit.raw.headers
    const from = URL.canParse(referer) ? new URL(referer) : undefined
    redirect(request, response, from && from.host === host ? from.pathname + from.search : '/')
  }

  /** Returns the path of a route, as the browser must request it. */
  #at(request: Pick<RoutedRequest, 'baseUrl'>, route: string): string {
    const { path, url = mountPath(request).replace(/\/$/, '') + path } = this.#parts
    return route === '' ? url : `${url}/${route}`
  }
}

/** Returns a change that binds a session to a key, unless it is bound to another one. */
function bindTo(token: string, bound: string): StateChange<boolean> {
  return ({ sessions }, now) => {
    const place = sessions.findIndex(({ record }) => record.token === token && record.expiresAt > now)
    const session = sessions[place]
    if (!session || session.record.bound !== null) return { result: session?.record.bound === bound }
    const changed = { ...session, record: { ...session.record, bound } }
    return { result: true, next: { sessions: sessions.with(place, changed) } }
  }
}

/** Returns a header that contains a string, with or without quotes. */
function headerOf({ raw }: { readonly raw: IncomingMessage }, name: string): string | undefined {
  return raw.headers[name]?.toString().replace(/^"(.*)"$/, '$1')
}

function answer(request: RoutedRequest, response: HostResponse, status: number, body: object): void {
  response.statusCode = status
  const text = Buffer.from(JSON.stringify(body))
  sendBody(request, response, { type: 'application/json; charset=utf-8', cache: 'no-store', body: text })
}

function tooEarly() {
  return invalidOption(
    'Mount boundSessions() after the limiter, for the same paths: app.use(limiter); app.use(boundSessions(limiter))',
  )
}
