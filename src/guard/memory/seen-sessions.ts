import { BoundedMap } from '../../ground/bounded-map.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { WatchedSession } from '../../stores/store.ts'
import type { HostSessionData } from '../host-types.ts'
import { lifeOf } from '../session-ttl.ts'

const CAPACITY = 20_000

/** What this process remembers about a login session. */
export class SeenSession implements WatchedSession {
  readonly token: Token
  /** The user that this session id belongs to, which never changes. */
  readonly userId: UserId
  /** The object that all requests share. It must not be modified. */
  readonly session: { readonly userId: UserId; readonly token: Token }
  /** Lifetime of the session when its use was last recorded, according to its cookie. */
  life: number | undefined = undefined
  /** When its use must be recorded again, by `performance.now()`. */
  freshUntil = Number.NEGATIVE_INFINITY
  knowledge: object | undefined = undefined

  constructor(userId: UserId, token: Token) {
    this.userId = userId
    this.token = token
    this.session = Object.freeze({ userId, token })
  }
}

/** Remembers recently seen login sessions by raw id, so that a request can check one before reading it. */
export class SeenSessions extends BoundedMap<string, SeenSession> {
  /** Whether any login session has been seen yet. */
  hasSeen = false

  constructor() {
    super(CAPACITY)
  }

  /** Remembers a session, and keeps what is already known about it. */
  note(sessionId: string, userId: UserId, token: Token): void {
    this.hasSeen = true
    const known = this.get(sessionId)
    const isSame = known !== undefined && (known.userId === userId || String(known.userId) === String(userId))
    this.set(sessionId, isSame ? known : new SeenSession(userId, token))
  }

  /** Forgets all sessions of a user, and returns their ids. */
  forget(userId: UserId): string[] {
    const own = [...this].filter(([, seen]) => String(seen.userId) === String(userId)).map(([sessionId]) => sessionId)
    for (const sessionId of own) this.delete(sessionId)
    return own
  }

  /** Checks whether the use of a session was recorded in the registry recently enough. */
  isFresh(sessionId: string, data: HostSessionData): boolean {
    const known = this.get(sessionId)
    // If the application has changed the lifetime, for example with cookie.maxAge, it must be written at once.
    return known !== undefined && performance.now() < known.freshUntil && known.life === lifeOf(data)
  }

  /** Checks whether the application has changed the lifetime of a session since its use was last recorded here. */
  hasOtherLife(sessionId: string, data: HostSessionData): boolean {
    const known = this.get(sessionId)
    return known !== undefined && Number.isFinite(known.freshUntil) && known.life !== lifeOf(data)
  }

  /** Records that the use of a session is being written, and need not be written again for `interval` milliseconds. */
  noteTouch(sessionId: string, data: HostSessionData, interval: number): void {
    const known = this.get(sessionId)
    if (!known) return
    known.life = lifeOf(data)
    known.freshUntil = performance.now() + interval
    // Set again to become the newest entry, so that sessions in use are kept longest.
    this.set(sessionId, known)
  }
}
