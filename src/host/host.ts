import type { UserId } from '../ground/user-id.ts'
import type { HostPosts } from './posts.ts'
import type { Theme } from './theme.ts'

/** What an answer says of a user. */
export interface UserSummary {
  /** The id, in the type that the application uses. */
  readonly id: UserId
  /** The login name. */
  readonly login: string
  /** The name that people read. */
  readonly display_name: string
}

/**
 * The application's users. `User` is whatever the application calls a user.
 *
 * Databases say `null` for nobody, arrays `undefined`: both will do.
 */
export interface HostUsers<User = unknown> {
  /**
   * Finds a user by id. Unknown: undefined or null.
   *
   * The id of a session has the type that the application uses. One that an administrator typed is a string; if it is
   * all digits and finds nobody, it is asked for again as a number.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host alone knows the type of its ids.
  findById(id: any): User | null | undefined | Promise<User | null | undefined>
  /** Finds a user by e-mail address, whatever the case. Unknown: undefined or null. */
  findByEmail(email: string): User | null | undefined | Promise<User | null | undefined>
  /** Finds a user by login name, whatever the case. Unknown: undefined or null. */
  findByLogin(login: string): User | null | undefined | Promise<User | null | undefined>
  /** Tells what answers say of a user. */
  summary(user: User): UserSummary
}

/** What the application supplies beside its sessions. */
export interface Host<User = unknown, Post = unknown> {
  /** The application's users. */
  readonly users: HostUsers<User>
  /** Tells whether a user may do something, such as `manage_options`. Asked again for every call; only `true` is a yes. */
  can(user: User, capability: string): boolean | Promise<boolean>
  /** The application's posts, for the lazy comments. */
  readonly posts?: HostPosts<Post> | undefined
  /** How the application renders comments, for the lazy comments. */
  readonly theme?: Theme<Post> | ((post: Post) => Theme<Post>) | undefined
  /** Slows down guessing of application passwords; put the application's rate limiter here. */
  readonly attempts?: PasswordAttempts | undefined
}

/** Somebody's try at an application password. */
export interface PasswordAttempt {
  /** Address of the client; null when it is not known. */
  readonly ip: string | null
  /** The login name or e-mail address that was given, whether there is such a user or not: at most 320 characters. */
  readonly name: string
}

/** Counts wrong application passwords by address and account. */
export interface PasswordAttempts {
  /** Tells whether another wrong password is tolerated. Anything but `true` answers it with 429. */
  allow(attempt: PasswordAttempt): boolean | Promise<boolean>
  /** Notes that the password was wrong, or the name unknown. */
  failed(attempt: PasswordAttempt): unknown
}
