import type { UserId } from '../ground/user-id.ts'

/** A user as shown in responses. */
export interface UserSummary {
  /** The id, in the type that your application uses. */
  readonly id: UserId
  /** Login name. */
  readonly login: string
  /** Display name. */
  readonly display_name: string
  /** Email address, for the admin screen. */
  readonly email?: string | undefined
}

/** Finds your application's users. `User` is your own user type. */
export interface HostUsers<User = unknown> {
  /**
   * Finds a user by id. Returns undefined or null if there is none.
   *
   * Ids from sessions have the type that your application uses. Ids typed by an administrator are strings. A string of
   * digits for which there is no user is looked up again as a number.
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its ids.
  findById(id: any): User | null | undefined | Promise<User | null | undefined>
  /** Finds a user by email address, ignoring case. Returns undefined or null if there is none. */
  findByEmail(email: string): User | null | undefined | Promise<User | null | undefined>
  /** Finds a user by login name, ignoring case. Returns undefined or null if there is none. */
  findByLogin(login: string): User | null | undefined | Promise<User | null | undefined>
  /** Returns the fields of a user to show in responses. */
  summary(user: User): UserSummary
  /** Finds the users whose name, login name or email address matches a text, for the admin screen. */
  search?(text: string, limit: number): readonly User[] | Promise<readonly User[]>
  /** Returns the URL of your application's page about a user, for the admin screen: a path, or an http or https URL. */
  url?(user: User): string | null | undefined | Promise<string | null | undefined>
}

/** What your application supplies besides sessions: users, permissions and, for lazy comments, posts and a theme. */
export interface Host<User = unknown, Post = unknown> {
  /** Your application's users. */
  readonly users: HostUsers<User>
  /**
   * Checks whether a user has a capability, such as `manage_options`. Called on each request that needs it; only `true`
   * grants the capability.
   */
  can(user: User, capability: string): boolean | Promise<boolean>
  /** Your application's posts, for lazy comments. */
  readonly posts?: HostPosts<Post> | undefined
  /** How your application renders comments, for lazy comments. */
  readonly theme?: Theme<Post> | ((post: Post) => Theme<Post>) | undefined
  /**
   * Returns the location of an IP address, such as "Berlin, DE", for the admin screen. Where it is unknown, each address
   * counts as a place, and each /64 network of IPv6.
   */
  readonly location?: ((ip: string) => string | null | undefined | Promise<string | null | undefined>) | undefined
  /** Limits how often passwords and codes can be guessed. Connect your application's rate limiter here. */
  readonly attempts?: PasswordAttempts | undefined
}

/** One attempt to use an application password, or to confirm one's identity on a page of sessmgr. */
export interface PasswordAttempt {
  /** Address of the client; null if unknown. */
  readonly ip: string | null
  /** The login name or email address as given, whether or not the user exists. At most 320 characters. */
  readonly name: string
}

/** Limits wrong passwords and codes by address and account. */
export interface PasswordAttempts {
  /** Checks whether another attempt is allowed. Any result except `true` leads to a 429 response. */
  allow(attempt: PasswordAttempt): boolean | Promise<boolean>
  /** Records an attempt with a wrong password or an unknown name. */
  failed(attempt: PasswordAttempt): unknown
}

/** Finds your application's posts. `Post` is your own post type. */
export interface HostPosts<Post = unknown> {
  /** Finds a post by id. Returns undefined or null if there is none. */
  find(id: number): Post | null | undefined | Promise<Post | null | undefined>
  /** Returns the id of a post, a positive integer. */
  id(post: Post): number
  /** Returns the path or URL of a post's page. */
  url(post: Post): string
  /** Checks whether a post is published, with or without a password, so that anyone may know that it exists. */
  isPublic(post: Post): boolean | Promise<boolean>
  /** Checks whether a post has a password. If so, its comments are not cached. @default never */
  hasPassword?(post: Post): boolean | Promise<boolean>
  /**
   * Checks whether this reader still has to enter the password. Called only for posts with a password. @default always
   */
  isLocked?(post: Post, request: unknown): boolean | Promise<boolean>
  /** Counts the approved comments of a post. */
  countComments(post: Post): number | Promise<number>
}

/** One block of a template. Your application has already inserted template parts and patterns. */
export interface Block {
  /** Name such as `core/comments`; null for plain markup. */
  readonly blockName: string | null
  /** Attributes of the block: JSON values by name. */
  readonly attrs: Readonly<Record<string, unknown>>
  /** Inner blocks, in order. */
  readonly innerBlocks: readonly Block[]
  /** Markup of the block without its inner blocks. */
  readonly innerHTML: string
  /** Pieces of markup, with null in place of each inner block. */
  readonly innerContent: readonly (string | null)[]
}

/** The reader that comments are rendered for. */
export interface RenderContext {
  /**
   * The request, as your framework passes it. Readers without a cookie share comments, so for them, read only its host,
   * protocol and language.
   */
  readonly request: unknown
  /**
   * Id of the reader whose name the form shows. Undefined for guests, and for lazy loads with a cookie but no nonce,
   * which may come from another site.
   */
  readonly userId: UserId | undefined
}

/** A theme that renders the comments of a post itself. */
export interface ClassicTheme<Post = unknown> {
  /** Renders the comments of a post and the comment form as HTML. */
  renderComments(post: Post, context: RenderContext): string | Promise<string>
}

/** A theme made of blocks, one of which is the comments block. */
export interface BlockTheme<Post = unknown> {
  /** Returns the template of a post as a tree of blocks. */
  template(post: Post): readonly Block[] | Promise<readonly Block[]>
  /** Renders a block from its serialized form. */
  renderBlock(serialized: string, post: Post, context: RenderContext): string | Promise<string>
}

/** How your application renders comments. */
export type Theme<Post = unknown> = ClassicTheme<Post> | BlockTheme<Post>
