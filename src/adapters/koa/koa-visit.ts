import type { CookieScope, HostSession, HostSessionData } from '../../guard/host-types.ts'
import { carryMarker } from '../../guard/marker-place.ts'
import { Visit } from '../../guard/request/visit.ts'
import { KeptCalls } from './finish-koa-calls.ts'
import type { KoaGuardedStore } from './koa-store.ts'
import type { KoaSession, KoaSessionContext } from './koa-types.ts'

/** A request to Koa. */
export class KoaVisit extends Visit {
  readonly store: KoaGuardedStore
  readonly context: KoaSessionContext
  sessionID: string
  /** The key of the session that koa-session creates for reading it before its middleware has run. */
  readonly #strayKey: string
  /** Whether the visitor's session is in the store. */
  isStored = false
  isQuiet = false
  /** The calls that have to finish before the response. */
  readonly calls = new KeptCalls(this)
  written: HostSessionData | undefined

  constructor(store: KoaGuardedStore, context: KoaSessionContext) {
    super(context.req)
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

  get cookieScope(): CookieScope {
    const { sessionOptions, secure } = this.context
    const { path, domain } = sessionOptions
    return { path, domain, secure: sessionOptions.secure ?? secure }
  }

  get ip(): string {
    return this.context.ip
  }

  get body(): unknown {
    return (this.context.request as { body?: unknown }).body
  }

  get passportLogin(): ((user: unknown) => Promise<void>) | undefined {
    return this.context.login as ((user: unknown) => Promise<void>) | undefined
  }

  async exchange(): Promise<void> {
    // Start with no data, because koa-session's own regeneration keeps it.
    await this.#regenerate({})
  }

  async putBack(sessionId: string, data: HostSessionData): Promise<void> {
    const { sessionOptions } = this.context
    const { genid } = sessionOptions
    sessionOptions.genid = () => sessionId
    this.isQuiet = !this.isStored
    try {
      await this.#regenerate(data)
      if (this.isQuiet) {
        this.clearCookie()
        // Assigned again, because koa-session would save the session if the application's beforeSave has added data.
        this.#replace(data)
      }
    } finally {
      sessionOptions.genid = genid
      this.isQuiet = false
    }
  }

  async #regenerate(data: HostSessionData): Promise<void> {
    await this.#replace(data).regenerate()
  }

  #replace(data: HostSessionData): KoaSession {
    const { context } = this
    context.session = data
    const session = context.session as KoaSession
    carryMarker(data, session)
    return session
  }

  /**
   * Writes the marked session if koa-session leaves all writing to the application. It was loaded without a marker, or
   * a login has just written it with a lifetime of two minutes.
   */
  async storeMarker(loaded?: HostSessionData): Promise<void> {
    if (this.context.sessionOptions.autoCommit !== false) return
    const { sessionID, sessmgr, store } = this
    const data = loaded ?? (this.loggedIn ? this.written : undefined)
    if (!data || !sessmgr.session) return
    store.guard.mark(sessionID, data, sessmgr.session)
    await store.guard.save(sessionID, data, this)
  }

  /** Removes the session cookie from the browser. */
  clearCookie(): void {
    const { sessionOptions, cookies } = this.context
    if (sessionOptions.externalKey) return
    cookies.set(sessionOptions.key, '', { ...sessionOptions, expires: new Date(0), maxAge: false })
  }
}
