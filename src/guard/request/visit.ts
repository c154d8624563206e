import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { LoginSession } from '../guard-context.ts'
import type { GuardedRequest, HostSession, HostSessionData, RequestState } from '../host-types.ts'
import type { HostedStore, SessionExchange } from '../session-exchange.ts'
import { type HostVisit, showVisit, VISIT } from './host-visit.ts'
import { STANDING, Standing } from './standing.ts'

/** One request to a host that is not Express, as the guard and the parts made for Express see it. */
export abstract class Visit extends Standing implements HostVisit, GuardedRequest {
  readonly [VISIT]: HostVisit = this
  readonly [STANDING]: Standing = this
  readonly raw: IncomingMessage
  readonly headers: IncomingHttpHeaders
  readonly socket: Socket
  /** Whether the session was written, which notes its use as well. */
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

  /** Gives the request an empty session, and gives up the one that it had. */
  abstract exchange(): Promise<void>

  /** Puts the session back with which a refused login began. */
  abstract putBack(sessionId: string, data: HostSessionData): Promise<void>

  get sessmgr(): RequestState {
    // Whoever has given the session up since is not signed in any more.
    const isGivenUp = this.state.session && (!this.session || this.#stateFor !== this.sessionID)
    return isGivenUp ? {} : this.state
  }

  set sessmgr(state: RequestState) {
    this.state = state
    this.#stateFor = this.sessionID
  }

  /** Whether somebody has logged in by this request. */
  get loggedIn(): boolean {
    const { session } = this.sessmgr
    return session !== undefined && session.token !== this.origin?.token
  }

  /** The session's data with the time at which it expires if nobody writes it. */
  protected get unwritten(): HostSessionData | undefined {
    return this.session
  }

  /** Notes that the login session of this request is in use, unless it was written anyway, or that can wait. */
  noteUse(done: () => void): void {
    const { session } = this.sessmgr
    // A login that was not written gets no cookie either: what nobody can use must not hold its slot.
    const isInUse = !this.wrote && session !== undefined && session.token === this.origin?.token
    const data = isInUse ? this.unwritten : undefined
    if (data) this.store.guard.noteUse(this.sessionID, data, done)
    else done()
  }
}

/** How a visit exchanges its session: in its host's own way. */
export const visitExchange: SessionExchange = {
  exchange: (visit) => (visit as Visit).exchange(),
  async putBack(visit, sessionId, data) {
    if (data) await (visit as Visit).putBack(sessionId, data)
  },
}
