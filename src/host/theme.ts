import type { UserId } from '../ground/user-id.ts'

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
  /** The request, as your framework passes it. */
  readonly request: unknown
  /**
   * Id of the reader whose name the form shows. Undefined for guests. A request with only a cookie counts as a guest,
   * because it may come from another site.
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
