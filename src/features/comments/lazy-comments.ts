import type { IncomingMessage } from 'node:http'
import type { CommentSettingsService } from './comment-settings.ts'
import type { BlockCache } from './rendering/block-cache.ts'

/**
 * The lazy comments of an application.
 *
 * `render`, `placeholder` and `script` reject with `hook_failed` or `hook_timeout` when a subscriber to a filter fails.
 */
export interface LazyComments {
  /** The settings of the lazy comments. */
  readonly settings: CommentSettingsService
  /** The kept comments blocks. */
  readonly cache: BlockCache
  /** Gives what stands where the comments of a post stand: the placeholder, or the comments inline. */
  render(request: IncomingMessage, post: unknown, view?: { single?: boolean }): Promise<string>
  /** Gives the placeholder alone, for a block of the application's own. The page must hold `script` too. */
  placeholder(post: unknown, request?: IncomingMessage): Promise<string>
  /** Gives the tags for the head of the page; nothing when the comments stand inline. `nonce`: of a content security policy. */
  script(request: IncomingMessage, post: unknown, options?: { nonce?: string; single?: boolean }): Promise<string>
  /**
   * Says that the theme is another one now: kept comments blocks are void.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  themeSwitched(): Promise<void>
  /** Says that the lazy comments have been switched on, and fires `lazycomments_activated`. */
  activate(): Promise<void>
  /** Says that the lazy comments have been switched off, and fires `lazycomments_deactivated`. Removes nothing. */
  deactivate(): Promise<void>
}
