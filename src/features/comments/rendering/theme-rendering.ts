import { SessmgrError, type SessmgrErrorCode } from '../../../ground/errors.ts'
import { type Logger, warn } from '../../../ground/logger.ts'
import type { HostPosts } from '../../../host/posts.ts'
import type { RenderContext, Theme } from '../../../host/theme.ts'
import type { CommentSettings } from '../comment-settings.ts'
import type { BlockCache } from './block-cache.ts'
import { findCommentsBlock, serializeBlock } from './block-markup.ts'

/** What the application tells of its posts and how it renders comments. */
export interface CommentsHost<Post = unknown> {
  readonly posts: HostPosts<Post>
  /** The theme, or a function that tells the theme of a post. */
  readonly theme: Theme<Post> | ((post: Post) => Theme<Post>)
}

/** Renders the comments of a post as its theme does, whoever may see them. */
export type RenderByTheme = (post: unknown, context: RenderContext) => Promise<string>

/** Creates the rendering by themes. A cache that is down costs time, not comments. */
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
      const problem = 'The comments block could not be cached, so it is parsed for each page view.'
      warn(logger, 'comments-block-not-cached', problem, { error: message })
    },
  }

  const themeOf = (post: unknown) => (typeof host.theme === 'function' ? host.theme(post) : host.theme)

  async function makeBlock(post: unknown): Promise<string | undefined> {
    // Asked anew, so that what is kept after a switch of themes is of the new one.
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

/** Refuses markup that is no string. @throws SessmgrError `code` */
export function requireText(markup: unknown, code: SessmgrErrorCode, giver: string): string {
  if (typeof markup === 'string') return markup
  throw new SessmgrError(
    code,
    `${giver} must give the markup of the comments as a string; it gave a value of type ${typeof markup}.`,
  )
}
