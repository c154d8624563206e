import type { RequestLike } from '../../door/request/visit.ts'
import type { SiteOption } from '../../options/site-option.ts'

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
  /** Returns the markup for the comments of a post: the placeholder, or the comments themselves. */
  render(request: RequestLike, post: unknown, view?: { single?: boolean }): Promise<string>
  /** Returns only the placeholder, for your own blocks. The page must also contain the result of `script`. */
  placeholder(post: unknown, request?: RequestLike): Promise<string>
  /**
   * Returns the tags for the head of the page, or an empty string if the comments are inline. `nonce` is for a content
   * security policy.
   */
  script(request: RequestLike, post: unknown, options?: { nonce?: string; single?: boolean }): Promise<string>
  /**
   * Invalidates cached comments blocks after the theme has changed.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  themeSwitched(): Promise<void>
  /** Fires `lazycomments_activated`. Call it after you have enabled lazy comments. */
  activate(): Promise<void>
  /** Fires `lazycomments_deactivated`. Call it after you have disabled lazy comments. It removes no data. */
  deactivate(): Promise<void>
}

/** The settings of the lazy comments. */
export interface CommentSettings {
  /** When comments load. @default 'scroll' */
  readonly load_method: 'scroll' | 'idle' | 'click' | 'off'
  /** Label of the load button. @default 'Load Comments' */
  readonly button_text: string
  /** Whether the button has the theme's style or sessmgr's. @default 'theme' */
  readonly button_style: 'theme' | 'custom'
  /** Additional CSS classes of the button. @default '' */
  readonly button_class: string
  /** Whether a spinner is shown while comments load. @default true */
  readonly show_loader: boolean
  /** Minimum number of comments for lazy loading, 1 or more. @default 1 */
  readonly minimum_count: number
  /** Whether bots get the comments inline. @default true */
  readonly disable_for_bots: boolean
  /** Whether the serialized comments block of a post is cached. @default true */
  readonly cache_enabled: boolean
}

/** Name of the option that stores the settings. */
export const COMMENTS_OPTION = 'lazycomments_settings'

/** Name of a setting. Other strings are allowed but have no effect. */
type SettingKey = keyof CommentSettings | (string & Record<never, never>)

/**
 * Reads and writes the settings of the lazy comments. Every write is sanitized.
 *
 * Every method rejects with `store_unavailable` if the store cannot be reached, and with `hook_failed` or
 * `hook_timeout` if a filter subscriber fails.
 */
export interface CommentSettingsService {
  /** The option that stores the settings, `lazycomments_settings`. */
  readonly option: SiteOption<CommentSettings>
  /** Reads one setting. Returns the fallback if the key is unknown. */
  get(key: SettingKey, fallback?: unknown): Promise<unknown>
  /** Reads all settings. */
  all(): Promise<CommentSettings>
  /** Writes one setting. Resolves to false if nothing changed, for example for an unknown key. */
  set(key: SettingKey, value: unknown): Promise<boolean>
  /** Writes several settings. Resolves to false if nothing changed. */
  update(values: Readonly<Partial<Record<SettingKey, unknown>>>): Promise<boolean>
  /** Deletes one stored setting, or all of them, so that the defaults apply again. */
  reset(key?: keyof CommentSettings): Promise<CommentSettings>
}

/**
 * Caches the serialized comments block of each post, without any comments.
 *
 * All methods except `key` and `remember` reject with `store_unavailable` if the store cannot be reached.
 */
export interface BlockCache {
  /** Returns the key of a post's entry. */
  key(postId: number): string
  /** Reads the block of a post, or returns false if it is not cached. */
  get(postId: number): Promise<string | false>
  /** Caches the block of a post for seven days. */
  set(postId: number, serializedBlock: string): Promise<void>
  /**
   * Returns the cached block of a post, or creates and caches it. A block created while the cache was being cleared is
   * not cached.
   *
   * While the store is down, creates the block each time.
   */
  remember(
    postId: number,
    make: () => Promise<string | undefined>,
    down: {
      /** Milliseconds after which the store counts as down. */
      readonly patienceMs: number
      /** Called with the error that made the cache unusable. */
      readonly tell: (error: Error) => void
    },
  ): Promise<string | undefined>
  /** Invalidates all entries, in constant time. */
  flush_all(): Promise<void>
}

/** Returns the key of a post's entry. */
export const blockKey = (postId: number): string => `lazycomments_block_${postId}`
