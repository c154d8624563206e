import type { UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/token.ts'
import type { LiveEnd } from './live-end.ts'

/** An open connection. Its `close` is called at most once, after it was removed from the table. */
export interface Connection {
  close(end: LiveEnd): void
}

/** A session with open connections in this process. */
export class TrackedSession {
  readonly userId: UserId
  readonly token: Token
  readonly connections = new Set<Connection>()
  /** Since when the store could not be asked about it, by `performance.now()`. */
  unknownSince: number | undefined = undefined

  constructor(userId: UserId, token: Token) {
    this.userId = userId
    this.token = token
  }
}

/** The open connections of this process, by the token of their session. */
export class ConnectionTable {
  /** Some frameworks keep the session id at a login, so that a token may belong to one user after another. */
  readonly #sessions = new Map<Token, readonly TrackedSession[]>()
  #size = 0

  /** Number of connections. */
  get size(): number {
    return this.#size
  }

  add(userId: UserId, token: Token, connection: Connection): TrackedSession {
    const known = this.#sessions.get(token) ?? []
    let session = known.find((one) => String(one.userId) === String(userId))
    if (!session) {
      session = new TrackedSession(userId, token)
      this.#sessions.set(token, [...known, session])
    }
    session.connections.add(connection)
    this.#size += 1
    return session
  }

  /** Removes a connection. Returns false if it was removed before. */
  delete(session: TrackedSession, connection: Connection): boolean {
    if (!session.connections.delete(connection)) return false
    this.#size -= 1
    if (session.connections.size === 0) {
      const others = this.of(session.token).filter((one) => one !== session)
      if (others.length === 0) this.#sessions.delete(session.token)
      else this.#sessions.set(session.token, others)
    }
    return true
  }

  of(token: Token): readonly TrackedSession[] {
    return this.#sessions.get(token) ?? []
  }

  all(): readonly TrackedSession[] {
    return [...this.#sessions.values()].flat()
  }
}
