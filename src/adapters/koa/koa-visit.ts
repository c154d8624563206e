import type { CookieScope, HostSession, HostSessionData } from '../../door/host-types.ts'
import { AdapterVisit } from '../../door/request/adapter-visit.ts'
import { PAIR_KEY } from '../../door/sessions/pair.ts'
import { errorText, hideSessionId } from '../../ground/errors.ts'
import { type Logger, logFailure } from '../../ground/logger.ts'
import { hidePair, type KoaGuardedStore } from './koa-store.ts'
import type { ContextSession, KoaSession, KoaSessionContext } from './koa-types.ts'

/** A request to a Koa application. */
export class KoaVisit extends AdapterVisit {
  readonly store: KoaGuardedStore
  readonly context: KoaSessionContext
  sessionID: string
  /** Key of the session that koa-session creates if `ctx.session` is read before its middleware has run. */
  readonly #strayKey: string
  /** koa-session's own object for the context. Undefined before the first use of `ctx.session`. */
  readonly held: ContextSession | undefined
  /** The calls that must finish before the response. */
  readonly calls = new KeptCalls(this)
  written: HostSessionData | undefined

  constructor(store: KoaGuardedStore, context: KoaSessionContext, held: ContextSession | undefined) {
    super(store.guard, context.req, context.res)
    this.held = held
    this.store = store
    this.context = context
    this.sessionID = (context.session as KoaSession | null)?.externalKey ?? ''
    this.#strayKey = this.sessionID
  }

  get session(): HostSession | undefined {
    const session = this.context.session as (HostSession & KoaSession) | null
    if (this.isTooEarly && session?.externalKey === this.#strayKey) return undefined
    return session ?? undefined
  }

  override get stored(): HostSessionData | undefined {
    return this.written ?? this.session
  }

  override get cookieScope(): CookieScope {
    const { sessionOptions, secure } = this.context
    const { path, domain, sameSite, partitioned } = sessionOptions
    return { path, domain, sameSite, partitioned, secure: sessionOptions.secure ?? secure }
  }

  get ip(): string {
    return this.context.ip
  }

  override get own(): object {
    return this.context
  }

  get passportLogin(): ((user: unknown) => Promise<void>) | undefined {
    return this.context.login as ((user: unknown) => Promise<void>) | undefined
  }

  async renew(): Promise<void> {
    // Pass no data, because koa-session's `regenerate` would keep the old data.
    await this.#regenerate({})
  }

  async restore(sessionId: string, data: HostSessionData | null): Promise<void> {
    if (!data) return
    // Neither koa-session nor its store is called, because the store may be what has failed.
    if (this.held) this.held.externalKey = sessionId
    this.sessionID = sessionId
    this.#replace(data)
  }

  /** Hides a new pair. koa-session cannot see it, so a flag makes koa-session write the session. */
  override attend(session: HostSessionData & Partial<KoaSession>): void {
    if (!Object.prototype.propertyIsEnumerable.call(session, PAIR_KEY)) return
    hidePair(session, session[PAIR_KEY])
    session._requireSave = true
  }

  async #regenerate(data: HostSessionData): Promise<void> {
    await this.#replace(data).regenerate()
  }

  #replace(data: HostSessionData): KoaSession {
    const { context } = this
    context.session = data
    const session = context.session as KoaSession
    if (data[PAIR_KEY] !== undefined) hidePair(session, data[PAIR_KEY])
    return session
  }

  /**
   * Writes a session that was loaded without a pair, if koa-session leaves all writing to the application.
   *
   * @param data The session as loaded.
   */
  async storePair(data: HostSessionData | undefined): Promise<void> {
    const { sessionID, sessmgr, guard, context } = this
    if (context.sessionOptions.autoCommit !== false || !data || !sessmgr.session) return
    guard.pair(sessionID, data, sessmgr.session)
    await guard.save(sessionID, data, this)
  }
}

const FAILED =
  'ctx.logout() or a write of ctx.session failed, but its request succeeded. Await such calls, and rethrow their errors.'

/** The calls of one request that must finish before its response, because they set cookies. */
class KeptCalls {
  readonly #visit: { readonly sessionID: string }
  readonly #calls: Promise<unknown>[] = []
  readonly #failures = new Set<string>()

  constructor(visit: { readonly sessionID: string }) {
    this.#visit = visit
  }

  /** Adds a call and returns it. The application might not await the call, so a failure must not crash the process. */
  keep(call: unknown): unknown {
    if (!(call instanceof Promise)) return call
    const { sessionID } = this.#visit
    const noteFailure = (error: unknown) =>
      this.#failures.add(hideSessionId(errorText(error, sessionID), this.#visit.sessionID))
    this.#calls.push(call.catch(noteFailure))
    return call
  }

  /** Waits for all calls, including those that they start. */
  settle(): Promise<void> | undefined {
    return this.#calls.length > 0 ? this.#settle() : undefined
  }

  async #settle(): Promise<void> {
    while (this.#calls.length > 0) await Promise.all(this.#calls.splice(0))
  }

  /** Logs the calls that have failed. */
  logFailures(logger: Logger): void {
    for (const error of this.#failures) logFailure(logger, FAILED, { error })
  }
}
