import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { LoginSession } from '../guard-context.ts'
import type { GuardedRequest, HostSession, HostSessionData, RequestState } from '../host-types.ts'
import type { HostedStore, SessionExchange } from '../session-exchange.ts'
import { type HostVisit, showVisit, VISIT } from './host-visit.ts'
import { STANDING, Standing } from './standing.ts'

/** A request of a framework other than Express, as the guard sees it. */
export abstract class Visit extends Standing implements HostVisit, GuardedRequest {
  readonly [VISIT]: HostVisit = this
  readonly [STANDING]: Standing = this
  readonly raw: IncomingMessage
  readonly headers: IncomingHttpHeaders
  readonly socket: Socket
  /** Whether the session was written, which also records its use. */
  wrote = false
  /** The login session that the request was loaded with. */
  origin: LoginSession | undefined
  override state: RequestState = {}
  #stateFor: string | undefined

  constructor(raw: IncomingMessage) {
    super()
    this.raw = raw
    this.headers = raw.headers
    this.socket = raw.socket
    showVisit(raw, this)
  }

  abstract readonly store: HostedStore
  abstract readonly session: HostSession | undefined
  abstract readonly sessionID: string
  abstract readonly ip: string
  abstract readonly body: unknown

  /** Replaces the session of the request with an empty one. */
  abstract exchange(): Promise<void>

  /** Restores the visitor's session after a refused login. */
  abstract putBack(sessionId: string, data: HostSessionData): Promise<void>

  get sessmgr(): RequestState {
    // The session has been given up since, so no user is signed in.
    const isGivenUp = this.state.session && (!this.session || this.#stateFor !== this.sessionID)
    return isGivenUp ? {} : this.state
  }

  set sessmgr(state: RequestState) {
    this.state = state
    this.#stateFor = this.sessionID
  }

  /** Whether a user has logged in during this request. */
  get loggedIn(): boolean {
    const { session } = this.sessmgr
    return session !== undefined && session.token !== this.origin?.token
  }

  /** The session data with the expiry that stays in the store unless this request writes the session. */
  protected get unwritten(): HostSessionData | undefined {
    return this.session
  }

  /** Records that this request used its login session, unless the session was written or recording can wait. */
  noteUse(done: () => void): void {
    const { session } = this.sessmgr
    // A login that was not written gets no cookie, so its unusable session must not occupy a slot.
    const isInUse = !this.wrote && session !== undefined && session.token === this.origin?.token
    const data = isInUse ? this.unwritten : undefined
    if (data) this.store.guard.noteUse(this.sessionID, data, done, this)
    else done()
  }
}

/** Exchanges the session of a visit. */
export const visitExchange: SessionExchange = {
  exchange: (visit) => (visit as Visit).exchange(),
  async putBack(visit, sessionId, data) {
    if (data) await (visit as Visit).putBack(sessionId, data)
  },
}
