import type { UserId } from '../user-id.ts'
import type { HostPosts } from './posts.ts'
import type { Theme } from './theme.ts'

/** What an answer says of a user. */
export interface UserSummary {
  readonly id: UserId
  readonly login: string
  readonly display_name: string
}

/** What a search of the application's users gives. Databases say `null` for nobody, arrays `undefined`. */
export type Found<User> = User | null | undefined

/** The application's users. `User` is whatever the application calls a user. */
export interface HostUsers<User = unknown> {
  /** Finds a user by id, given as text. Unknown: undefined or null. */
  findById(id: string): Found<User> | Promise<Found<User>>
  /** Finds a user by e-mail address, whatever the case. Unknown: undefined or null. */
  findByEmail(email: string): Found<User> | Promise<Found<User>>
  /** Finds a user by login name, whatever the case. Unknown: undefined or null. */
  findByLogin(login: string): Found<User> | Promise<Found<User>>
  /** Tells what answers say of a user. */
  summary(user: User): UserSummary
}

/** What the application supplies beside its sessions. */
export interface Host<User = unknown, Post = unknown> {
  readonly users: HostUsers<User>
  /** Tells whether a user may do something, such as `manage_options`. Asked anew for every call. */
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
  readonly ip: string | null
  readonly name: string
}

/** Counts wrong application passwords by address and account. */
export interface PasswordAttempts {
  /** Tells whether a password may be checked at all. False refuses the call with 429. */
  allow(attempt: PasswordAttempt): boolean | Promise<boolean>
  /** Notes that the password was wrong, or the name unknown. */
  failed(attempt: PasswordAttempt): unknown
}
