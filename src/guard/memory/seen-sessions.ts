import { BoundedMap } from '../../ground/bounded-map.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/token.ts'
import type { WatchedSession } from '../../stores/verdict-watch.ts'
import type { HostSessionData } from '../host-types.ts'
import { lifeOf } from '../session-ttl.ts'

const CAPACITY = 20_000

/** What this process remembers of a login session. */
export class SeenSession implements WatchedSession {
  readonly token: Token
  /** The user of a session id never changes, so this is never wrong. */
  readonly userId: UserId
  /** What requests are shown of it: one object for all, which nobody may change. */
  readonly session: { readonly userId: UserId; readonly token: Token }
  /** The life that the session had when this process noted last that it was used, by its cookie. */
  life: number | undefined = undefined
  /** Until when its use need not be noted again, by `performance.now()`. */
  freshUntil = Number.NEGATIVE_INFINITY
  knowledge: object | undefined = undefined

  constructor(userId: UserId, token: Token) {
    this.userId = userId
    this.token = token
    this.session = Object.freeze({ userId, token })
  }

  /** Tells whether this process has just noted that the session is in use. */
  isFresh(data: HostSessionData): boolean {
    // A life that the application has changed, as by cookie.maxAge, has to be written at once.
    return performance.now() < this.freshUntil && this.life === lifeOf(data)
  }
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
    this.set(sessionId, isSame ? known : new SeenSession(userId, token))
  }

  /** Notes that the use of a session is being written down, for so many milliseconds. */
  noteTouch(sessionId: string, data: HostSessionData, interval: number): void {
    const known = this.get(sessionId)
    if (!known) return
    known.life = lifeOf(data)
    known.freshUntil = performance.now() + interval
    // Set anew, for those that are in use are to be kept longest.
    this.set(sessionId, known)
  }
}
