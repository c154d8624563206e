import type { UserId } from '../ground/user-id.ts'

/** One block of a template. Template parts and patterns have been put in their places by the application. */
export interface Block {
  /** Name such as `core/comments`; null for markup that is no block. */
  readonly blockName: string | null
  /** The attributes of the block, as JSON. */
  readonly attrs: Readonly<Record<string, unknown>>
  /** The blocks inside, in order. */
  readonly innerBlocks: readonly Block[]
  /** The markup of the block without that of the blocks inside. */
  readonly innerHTML: string
  /** Pieces of markup, with null where the next inner block stands. */
  readonly innerContent: readonly (string | null)[]
}

/** For whom comments are rendered. */
export interface RenderContext {
  /** The request that the comments are rendered for, as the application handles it. */
  readonly request: unknown
  /**
   * Id of the reader whose name stands in the form. Undefined: a guest, whatever the session of the request says,
   * because a request that proves itself by a cookie alone may come from anywhere.
   */
  readonly userId: UserId | undefined
}

/** A theme that renders the comments of a post itself. */
export interface ClassicTheme<Post = unknown> {
  /** Renders the comments of a post and their form, as HTML. */
  renderComments(post: Post, context: RenderContext): string | Promise<string>
}

/** A theme made of blocks, one of which is the comments block. */
export interface BlockTheme<Post = unknown> {
  /** Gives the template of a post as a tree of blocks. */
  template(post: Post): readonly Block[] | Promise<readonly Block[]>
  /** Renders a block from its serialised form. */
  renderBlock(serialized: string, post: Post, context: RenderContext): string | Promise<string>
}

/** How the application renders comments. */
export type Theme<Post = unknown> = ClassicTheme<Post> | BlockTheme<Post>
