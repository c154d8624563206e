const CAPACITY = 20_000

/** The sessions of a user, as they were read: what was seen there holds as long as this is valid. */
export class FollowedUser {
  valid = true
  /** When the first of the sessions that were seen expires, by the server's clock. */
  until = Number.POSITIVE_INFINITY
  /** Whether a request has used it since it was last due to make room. */
  used = false
}

/** The users whose sessions are followed, by key. Of too many, one that was not used lately makes room. */
export class FollowedUsers {
  readonly #users = new Map<string, FollowedUser>()
  readonly #capacity: number

  constructor(capacity = CAPACITY) {
    this.#capacity = capacity
  }

  /** Returns what is known of a user, for as long as it is valid; notes the user where nothing is. */
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

  /** Drops what is known of a user. */
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
