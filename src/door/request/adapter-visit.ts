import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HostSessionData, RequestState } from '../host-types.ts'
import type { SessionGuard } from '../session-guard.ts'
import type { LoginSession } from '../sessions/known-sessions.ts'
import { Visit } from './visit.ts'

/** A request in a framework other than Express. */
export abstract class AdapterVisit extends Visit {
  readonly raw: IncomingMessage
  readonly guard: SessionGuard
  /** Id of the session, even if it has no data. An empty string if there is no session. */
  abstract override readonly sessionID: string
  /** Whether this request has written the session, which also records its use. */
  wrote = false
  /** The login session that the request was loaded with. */
  origin: LoginSession | undefined
  override state: RequestState = {}
  #stateFor: string | undefined

  constructor(guard: SessionGuard, raw: IncomingMessage, response: ServerResponse) {
    super()
    this.guard = guard
    this.userIn = guard.userIn
    this.raw = raw
    this.givenResponse = response
    this.passed = this
    this.standFor(raw)
  }

  get sessmgr(): RequestState {
    // If the request has given up the session since the check, no user is signed in.
    const isGivenUp = this.state.session && (!this.session || this.#stateFor !== this.sessionID)
    return isGivenUp ? {} : this.state
  }

  set sessmgr(state: RequestState) {
    this.state = state
    this.#stateFor = this.sessionID
  }

  /** The session data, with the expiry that the store keeps if this request does not write the session. */
  protected get unwritten(): HostSessionData | undefined {
    return this.session
  }

  /**
   * Records that this request used its login session, and then calls `done`. Skips recording if it can wait, or if the
   * session was written.
   */
  noteUse(done: () => void): void {
    const { session } = this.sessmgr
    // If a login's session was not written, the browser gets no cookie, so the session must not keep a slot.
    const isInUse = !this.wrote && session !== undefined && session.token === this.origin?.token
    const data = isInUse ? this.unwritten : undefined
    if (!data || this.isNoUse || this.guard.canWait(this.sessionID, data)) done()
    else this.guard.noteUse(this.sessionID, data, done, this)
  }
}
