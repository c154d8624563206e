/** The application's posts. `Post` is whatever the application calls a post. */
export interface HostPosts<Post = unknown> {
  /** Finds a post by id. Unknown: undefined or null. */
  find(id: number): Post | null | undefined | Promise<Post | null | undefined>
  /** Tells the id of a post: a positive integer. */
  id(post: Post): number
  /** Path or address of the page that shows the post alone. */
  url(post: Post): string
  /** Tells whether everybody may see that the post exists: published, with a password or without. */
  isPublic(post: Post): boolean | Promise<boolean>
  /** Tells whether the post is behind a password: what it answers then is for this one reader. @default never */
  hasPassword?(post: Post): boolean | Promise<boolean>
  /** Tells whether this request has yet to give the password. Asked for posts that have one. @default always */
  isLocked?(post: Post, request: unknown): boolean | Promise<boolean>
  /** Counts the approved comments of a post. */
  countComments(post: Post): number | Promise<number>
}
