const CAPACITY = 20_000

/** A user's entry. While it is valid, none of the user's sessions has changed since it was read. */
export class FollowedUser {
  valid = true
  /** When the first of these sessions expires, by the server's clock. */
  until = Number.POSITIVE_INFINITY
  /** Whether a request has used the entry since it was last considered for eviction. */
  used = false
}

/** The followed users, by key. When there are too many, evicts a user who was not active recently. */
export class FollowedUsers {
  readonly #users = new Map<string, FollowedUser>()
  readonly #capacity: number

  constructor(capacity = CAPACITY) {
    this.#capacity = capacity
  }

  /** Returns a user's valid entry, creating one if needed. */
  of(key: string): FollowedUser {
    let user = this.#users.get(key)
    if (user) return user
    while (this.#users.size >= this.#capacity) this.#makeRoom()
    user = new FollowedUser()
    this.#users.set(key, user)
    return user
  }

  #makeRoom(): void {
    const [key, user] = this.#users.entries().next().value as [string, FollowedUser]
    this.#users.delete(key)
    if (user.used) {
      user.used = false
      this.#users.set(key, user)
    } else user.valid = false
  }

  /** Drops a user's entry. */
  drop(key: string): void {
    const user = this.#users.get(key)
    if (!user) return
    user.valid = false
    this.#users.delete(key)
  }

  dropAll(): void {
    for (const user of this.#users.values()) user.valid = false
    this.#users.clear()
  }
}
