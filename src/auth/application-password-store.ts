import type { UserId } from '../ground/user-id.ts'

/** A stored application password. Contains only its hash. */
export interface StoredPassword {
  /** Id of the password, unique for its user. Used to revoke it. */
  readonly id: string
  /** What the password is for, as entered when it was created. */
  readonly name: string
  /** SHA-256 of the password, in hex. The password has 142 random bits, so a slow hash would add nothing. */
  readonly hash: string
  /** Time of creation, in milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/**
 * Stores users' application passwords.
 *
 * Every method is atomic and rejects with `store_unavailable` if the store cannot be reached.
 */
export interface ApplicationPasswordStore {
  /** Adds a password, replacing one with the same id. */
  add(userId: UserId, password: StoredPassword): Promise<void>
  /** Lists a user's passwords, oldest first. Returns an empty list for an unknown user. */
  list(userId: UserId): Promise<readonly StoredPassword[]>
  /**
   * Checks whether a user has a password with this hash. The time it takes does not depend on the number of passwords.
   */
  has(userId: UserId, hash: string): Promise<boolean>
  /** Removes a password. Resolves to false if no password has this id. */
  remove(userId: UserId, id: string): Promise<boolean>
}
