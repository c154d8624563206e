import type { HostSession, HostSessionData } from '../../guard/host-types.ts'
import { Visit } from '../../guard/request/visit.ts'
import type { KoaGuardedStore } from './koa-store.ts'
import type { KoaSession, KoaSessionContext } from './koa-types.ts'

/** One request to Koa. */
export class KoaVisit extends Visit {
  readonly context: KoaSessionContext
  override sessionId: string | undefined
  /** Whether the visitor's session lies in the store. */
  isStored = false
  /** Whether what koa-session writes is to be dropped. */
  isQuiet = false
  /** What koa-session wrote last, if that was during a login. */
  written: HostSessionData | undefined
  readonly #handle: KoaGuardedStore['handle']
  /** The id to go back to when a login is refused. */
  #idBefore: string | undefined

  constructor(store: KoaGuardedStore, context: KoaSessionContext) {
    super(context.req, store)
    this.context = context
    this.sessionId = (context.session as KoaSession | null)?.externalKey
    this.#handle = store.handle
  }

  get session(): HostSession | undefined {
    return (this.context.session as HostSession | null) ?? undefined
  }

  protected get parts(): Record<string, unknown> {
    const visit = this
    const { context } = this
    return {
      sessionStore: this.#handle,
      ip: context.ip,
      renewSession: () => this.#renew(),
      get body() {
        return (context.request as { body?: unknown }).body
      },
      get sessionID(): string {
        return visit.sessionId ?? ''
      },
      set sessionID(sessionId: string) {
        visit.#idBefore = sessionId
      },
    }
  }

  /** Gives the request an empty session of a new id; what koa-session itself regenerates keeps its data. */
  async #renew(): Promise<void> {
    await this.#exchange({})
  }

  protected async startAfresh(): Promise<void> {
    // Not needed here: an ended session is noticed as it is loaded, and koa-session makes a new one.
  }

  async putBack(data: HostSessionData): Promise<void> {
    const { sessionOptions } = this.context
    const { genid } = sessionOptions
    sessionOptions.genid = () => this.#idBefore
    this.isQuiet = !this.isStored
    try {
      await this.#exchange(data)
      if (this.isQuiet) {
        this.clearCookie()
        // What the application's beforeSave has put in would count as a session that is to be saved.
        this.context.session = data
      }
    } finally {
      sessionOptions.genid = genid
      this.isQuiet = false
    }
  }

  async #exchange(data: HostSessionData): Promise<void> {
    const { context } = this
    context.session = data
    await (context.session as KoaSession).regenerate()
  }

  /**
   * Writes a marked session where koa-session leaves all writing to the application, which may have no reason for it: one
   * that was loaded without a marker, or what koa-session has written itself, at the login, which holds for two minutes.
   */
  async storeMarker(loaded?: HostSessionData): Promise<void> {
    const { sessionId = '', state } = this
    const { guard } = this.store
    const data = loaded ?? (this.loggedIn ? this.written : undefined)
    if (this.context.sessionOptions.autoCommit !== false || !data || !state.session) return
    if (loaded && guard.markerOf(sessionId, loaded)) return
    guard.mark(sessionId, data, state.session)
    await guard.save(sessionId, data, this.view)
  }

  /** Takes the session's cookie from the browser. */
  clearCookie(): void {
    const { sessionOptions, cookies } = this.context
    if (sessionOptions.externalKey) return
    cookies.set(sessionOptions.key, '', { ...sessionOptions, expires: new Date(0), maxAge: false })
  }
}
