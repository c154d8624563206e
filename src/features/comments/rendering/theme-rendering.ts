import { SessmgrError, type SessmgrErrorCode } from '../../../ground/errors.ts'
import { type Logger, warn } from '../../../ground/logger.ts'
import type { HostPosts } from '../../../host/posts.ts'
import type { RenderContext, Theme } from '../../../host/theme.ts'
import type { CommentSettings } from '../comment-settings.ts'
import type { BlockCache } from './block-cache.ts'
import { findCommentsBlock, serializeBlock } from './block-markup.ts'

/** The application's posts and themes. */
export interface CommentsHost<Post = unknown> {
  readonly posts: HostPosts<Post>
  /** The theme, or a function that returns the theme of a post. */
  readonly theme: Theme<Post> | ((post: Post) => Theme<Post>)
}

/** Renders the comments of a post with its theme, without access checks. */
export type RenderByTheme = (post: unknown, context: RenderContext) => Promise<string>

/** Creates the rendering by themes. If the cache is down, rendering is slower but works. */
export function createThemeRendering(parts: {
  host: CommentsHost
  settings: () => Promise<CommentSettings>
  cache: BlockCache
  logger: Logger
  /** Milliseconds after which the store counts as down. */
  patienceMs: number
}): RenderByTheme {
  const { host, settings, cache, logger, patienceMs } = parts
  const down = {
    patienceMs,
    tell: ({ message }: Error) => {
      const problem = 'The comments block could not be cached, so it is created again for each page view.'
      warn(logger, 'comments-block-not-cached', problem, { error: message })
    },
  }

  const themeOf = (post: unknown) => (typeof host.theme === 'function' ? host.theme(post) : host.theme)

  async function makeBlock(post: unknown): Promise<string | undefined> {
    // Look the theme up again, because it may have changed in the meantime.
    const theme = themeOf(post)
    const block = 'template' in theme ? findCommentsBlock(await theme.template(post)) : undefined
    return block && serializeBlock(block)
  }

  async function commentsBlock(post: unknown): Promise<string | undefined> {
    const { cache_enabled } = await settings()
    return cache_enabled ? cache.remember(host.posts.id(post), () => makeBlock(post), down) : makeBlock(post)
  }

  async function render(post: unknown, context: RenderContext): Promise<string> {
    const theme = themeOf(post)
    if ('renderComments' in theme) return theme.renderComments(post, context)
    const block = await commentsBlock(post)
    return block === undefined ? '' : theme.renderBlock(block, post, context)
  }

  return async (post, context) => requireText(await render(post, context), 'invalid_option', 'The theme')
}

/** Rejects markup that is not a string. @throws SessmgrError `code` */
export function requireText(markup: unknown, code: SessmgrErrorCode, giver: string): string {
  if (typeof markup === 'string') return markup
  throw new SessmgrError(
    code,
    `${giver} must return the markup of the comments as a string, but returned a value of type ${typeof markup}.`,
  )
}
