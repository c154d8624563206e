/** Finds your application's posts. `Post` is your own post type. */
export interface HostPosts<Post = unknown> {
  /** Finds a post by id. Returns undefined or null if there is none. */
  find(id: number): Post | null | undefined | Promise<Post | null | undefined>
  /** Returns the id of a post, a positive integer. */
  id(post: Post): number
  /** Returns the path or URL of a post's page. */
  url(post: Post): string
  /** Checks whether the post is published, with or without a password, so that everyone may know that it exists. */
  isPublic(post: Post): boolean | Promise<boolean>
  /** Checks whether the post has a password. If so, its comments are not cached. @default never */
  hasPassword?(post: Post): boolean | Promise<boolean>
  /**
   * Checks whether this reader still has to enter the password. Called only for posts with a password. @default always
   */
  isLocked?(post: Post, request: unknown): boolean | Promise<boolean>
  /** Counts the approved comments of a post. */
  countComments(post: Post): number | Promise<number>
}
