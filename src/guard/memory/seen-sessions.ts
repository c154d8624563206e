import { BoundedMap } from '../../ground/bounded-map.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/token.ts'
import type { HostSessionData } from '../host-types.ts'
import { lifeOf, touchInterval } from '../session-ttl.ts'

const CAPACITY = 20_000

/** What this process remembers of a login session. */
export interface SeenSession {
  readonly token: Token
  /** The user of a session id never changes, so this is never wrong. */
  readonly userId: UserId
  /** The life that the session had at that time, by its cookie. */
  life?: number | undefined
  /** When this process noted last that the session was used, by `performance.now()`. */
  touchedAt: number
}

/** Remembers the login sessions that were seen last, by their raw id, so that a request can ask about them at once. */
export class SeenSessions extends BoundedMap<string, SeenSession> {
  /** Whether any login session was ever seen. */
  hasSeen = false

  constructor() {
    super(CAPACITY)
  }

  /** Remembers a session, and keeps what is known of it already. */
  note(sessionId: string, userId: UserId, token: Token): void {
    this.hasSeen = true
    const known = this.get(sessionId)
    const isSame = known !== undefined && (known.userId === userId || String(known.userId) === String(userId))
    this.set(sessionId, isSame ? known : { token, userId, touchedAt: Number.NEGATIVE_INFINITY })
  }

  /** Tells whether this process has just noted that a session is in use. */
  wasJustTouched(sessionId: string, data: HostSessionData, touchEveryMs: number): boolean {
    const known = this.get(sessionId)
    // A life that the application has changed, as by cookie.maxAge, has to be written at once.
    const isSame = known?.life === lifeOf(data)
    return known !== undefined && isSame && performance.now() - known.touchedAt < touchInterval(data, touchEveryMs)
  }

  noteTouch(sessionId: string, data: HostSessionData): void {
    const known = this.get(sessionId)
    // Set anew, for those that are in use are to be kept longest.
    if (known) this.set(sessionId, Object.assign(known, { touchedAt: performance.now(), life: lifeOf(data) }))
  }
}
