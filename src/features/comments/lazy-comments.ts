import type { IncomingMessage } from 'node:http'
import type { CommentSettingsService } from './comment-settings.ts'
import type { BlockCache } from './rendering/block-cache.ts'

/**
 * An application's lazy comments.
 *
 * `render`, `placeholder` and `script` reject with `hook_failed` or `hook_timeout` if a filter subscriber fails.
 */
export interface LazyComments {
  /** The settings of the lazy comments. */
  readonly settings: CommentSettingsService
  /** The cache of comments blocks. */
  readonly cache: BlockCache
  /** Returns the markup for the comments of a post: the placeholder, or the comments inline. */
  render(request: IncomingMessage, post: unknown, view?: { single?: boolean }): Promise<string>
  /** Returns only the placeholder, for your own blocks. The page must also contain the result of `script`. */
  placeholder(post: unknown, request?: IncomingMessage): Promise<string>
  /**
   * Returns the tags for the head of the page, or an empty string if the comments are inline. `nonce` is for a content
   * security policy.
   */
  script(request: IncomingMessage, post: unknown, options?: { nonce?: string; single?: boolean }): Promise<string>
  /**
   * Invalidates cached comments blocks after the theme has changed.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  themeSwitched(): Promise<void>
  /** Fires `lazycomments_activated`. Call it after you have enabled lazy comments. */
  activate(): Promise<void>
  /** Fires `lazycomments_deactivated`. Call it after you have disabled lazy comments. It does not remove any data. */
  deactivate(): Promise<void>
}
