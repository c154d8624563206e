import type { UserId } from '../ground/user-id.ts'

/** An application password as it is kept: never the password itself. */
export interface StoredPassword {
  /** Names it among the passwords of its user, to revoke it by. */
  readonly id: string
  /** What it is for, as it was given. */
  readonly name: string
  /** SHA-256 of the password, hex. It has 142 random bits, so a slow hash would add nothing. */
  readonly hash: string
  /** When it was made: milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/**
 * Keeps the application passwords of users.
 *
 * Every method is atomic. Rejects with `store_unavailable` when the store cannot be reached.
 */
export interface ApplicationPasswordStore {
  /** Adds a password. One with the same id is replaced. */
  add(userId: UserId, password: StoredPassword): Promise<void>
  /** Lists the passwords of a user, oldest first. Unknown user: none. */
  list(userId: UserId): Promise<readonly StoredPassword[]>
  /** Checks whether a user has a password with this hash, in a time that does not depend on how many there are. */
  has(userId: UserId, hash: string): Promise<boolean>
  /** Removes a password. Resolves false when there is none with this id. */
  remove(userId: UserId, id: string): Promise<boolean>
}
