import type { UserId } from '../host/user-id.ts'
import type { Token } from '../sessions/token.ts'

const CAPACITY = 10_000

/**
 * Remembers which user a token belongs to, for the sessions seen last.
 *
 * The user of a session id never changes, so a hint is never wrong; it may be missing.
 */
export class UserHints {
  readonly #users = new Map<Token, UserId>()

  get(token: Token): UserId | undefined {
    return this.#users.get(token)
  }

  set(token: Token, userId: UserId): void {
    this.#users.delete(token)
    this.#users.set(token, userId)
    if (this.#users.size <= CAPACITY) return
    const [oldest] = this.#users.keys()
    if (oldest !== undefined) this.#users.delete(oldest)
  }

  delete(token: Token): void {
    this.#users.delete(token)
  }
}
