import { withDeadline } from '../../ground/deadline.ts'
import { SessmgrError, type SessmgrErrorCode } from '../../ground/errors.ts'
import { type Logger, logFailure } from '../../ground/logger.ts'
import { typeInWords } from '../../ground/option-checks.ts'
import type { Block, HostPosts, RenderContext, Theme } from '../../host/host.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import { type BlockCache, blockKey, type CommentSettings } from './lazy-comments.ts'

/** The application's posts and themes. */
export interface CommentsHost<Post = unknown> {
  readonly posts: HostPosts<Post>
  /** The theme, or a function that returns the theme of a post. */
  readonly theme: Theme<Post> | ((post: Post) => Theme<Post>)
}

/** Renders the comments of a post with its theme, without access checks. */
type RenderByTheme = (post: unknown, context: RenderContext) => Promise<string>

/** Creates the function that renders comments with themes. If the cache is down, rendering is slower but works. */
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
      const problem = 'The comments block could not be cached, so it is rendered for each page view.'
      logFailure(logger, problem, { error: message })
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

/** Returns markup that is a string, and rejects anything else. @throws SessmgrError `code` */
export function requireText(markup: unknown, code: SessmgrErrorCode, giver: string): string {
  if (typeof markup === 'string') return markup
  throw new SessmgrError(
    code,
    `${giver} must return the comments markup as a string, but returned ${typeInWords(markup)}.`,
  )
}

const COMMENTS_BLOCKS = ['core/comments', 'core/post-comments']

/** Finds the comments block in a template, at any depth. Returns undefined if the template has no such block. */
export function findCommentsBlock(blocks: readonly Block[]): Block | undefined {
  for (const block of blocks) {
    if (COMMENTS_BLOCKS.includes(block.blockName ?? '')) return block
    const inner = findCommentsBlock(block.innerBlocks)
    if (inner) return inner
  }
  return undefined
}

/** Serializes a block with its inner blocks in the comment-delimited form of block themes. */
export function serializeBlock(block: Block): string {
  let next = 0
  const content = block.innerContent.map((piece) => {
    if (piece !== null) return piece
    const inner = block.innerBlocks[next]
    next += 1
    return inner ? serializeBlock(inner) : ''
  })
  if (block.blockName === null) return content.join('')
  const name = block.blockName.replace(/^core\//, '')
  const attributes = Object.keys(block.attrs).length > 0 ? `${serializeAttributes(block.attrs)} ` : ''
  if (block.innerContent.length === 0) return `<!-- wp:${name} ${attributes}/-->`
  return `<!-- wp:${name} ${attributes}-->${content.join('')}<!-- /wp:${name} -->`
}

/** Returns a block's attributes as JSON that can neither end its HTML comment nor be read as markup. */
function serializeAttributes(attributes: Readonly<Record<string, unknown>>): string {
  const escapes: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026', '--': '\\u002d\\u002d' }
  return JSON.stringify(attributes).replaceAll(/--|[<>&]/g, (match) => escapes[match] ?? match)
}

const LIFE_MS = 7 * 24 * 60 * 60_000
const GROUP = 'lazycomments'

/** Creates the block cache on top of a transient store. */
export function createBlockCache(transients: TransientStore): BlockCache {
  async function read(postId: number): Promise<{ block: string | false; generation: number }> {
    const [kept, generation] = await Promise.all([transients.get(blockKey(postId)), transients.generation(GROUP)])
    const separator = kept?.indexOf(' ') ?? -1
    const isValid = kept !== undefined && Number(kept.slice(0, separator)) === generation
    return { block: isValid && kept.slice(separator + 1), generation }
  }

  /** Stores a block with its generation in front, so that blocks of earlier generations can be recognized. */
  const write = (postId: number, block: string, generation: number) =>
    transients.set(blockKey(postId), `${generation} ${block}`, LIFE_MS)

  return {
    key: blockKey,
    get: async (postId) => (await read(postId)).block,
    set: async (postId, serializedBlock) => write(postId, serializedBlock, await transients.generation(GROUP)),
    async remember(postId, make, { patienceMs, tell }) {
      const tooSlow = () => new SessmgrError('store_unavailable', 'The store is not responding.')
      const found = await withDeadline(read(postId), patienceMs, tooSlow).catch(tell)
      if (found && found.block !== false) return found.block
      const block = await make()
      // Not awaited: no request should have to wait for the cache.
      if (found && block !== undefined) write(postId, block, found.generation).catch(tell)
      return block
    },
    async flush_all() {
      await transients.advance(GROUP)
    },
  }
}
