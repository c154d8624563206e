import type { Logger } from '../../ground/logger.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { RenderContext } from '../../host/host.ts'
import { knownSettings } from './comment-settings.ts'
import type { BlockCache, CommentSettings, CommentSettingsService } from './lazy-comments.ts'
import { type CommentsHost, createThemeRendering, requireText } from './theme-rendering.ts'

/** Properties of a page view. */
interface PostView {
  readonly request: unknown
  readonly userAgent: string | undefined
  readonly single: boolean
}

/** Result of GET /comments. */
type CommentsAnswer =
  | { readonly found: false }
  /** If `isPublic`, every anonymous reader gets the same response. */
  | { readonly found: true; readonly body: CommentsBody; readonly isPublic: boolean }

/** The lazy comments, independent of any web framework. */
export interface CommentRendering {
  /** Reads the settings, or returns the last known ones while the store is down. */
  settings(): Promise<CommentSettings>
  /** Decides, once per request and post, whether the comments of a view load lazily. */
  isLazy(post: unknown, view: PostView): Promise<boolean>
  /**
   * Renders the comments of a post for the page itself. Returns an empty string if this reader still has to enter the
   * post's password.
   */
  renderInline(post: unknown, context: RenderContext): Promise<string>
  /**
   * Renders the comments that the script fetches. Concurrent calls for a public post with the same `sharedBy` share one
   * rendering.
   *
   * @param sharedBy Identifies the readers who share a response. Undefined if the response is for one reader.
   */
  answer(postId: number, context: RenderContext, sharedBy: string | undefined): Promise<CommentsAnswer>
}

/** Creates the rendering from the application's posts and themes, the settings and the block cache. */
export function createCommentRendering(parts: {
  host: CommentsHost
  settings: CommentSettingsService
  cache: BlockCache
  hooks: Hooks
  logger: Logger
  deadlineMs: number
}): CommentRendering {
  const { host, settings, cache, hooks, logger, deadlineMs } = parts
  const { posts } = host
  // Two calls to the store may time out before rendering, so each gets part of the deadline.
  const patienceMs = deadlineMs / 4
  const settingsNow = knownSettings(settings, patienceMs)
  const render = createThemeRendering({ host, settings: settingsNow, cache, logger, patienceMs })
  const decisions = new WeakMap<object, Map<number, Promise<boolean>>>()
  const publicBody = commentsBodies()
  const underWay = new Map<string, Promise<CommentsAnswer>>()

  async function decide(post: unknown, { single, userAgent }: PostView): Promise<boolean> {
    const count = await posts.countComments(post)
    const can = await canLazyLoad(await settingsNow(), { single, count, userAgent })
    return hooks.applyFilters('lazycomments_can_lazy_load', can)
  }

  function isLazy(post: unknown, view: PostView): Promise<boolean> {
    const request = view.request as object
    const known = decisions.get(request) ?? new Map<number, Promise<boolean>>()
    decisions.set(request, known)
    const decision = known.get(posts.id(post)) ?? decide(post, view)
    known.set(posts.id(post), decision)
    return decision
  }

  const hasPassword = async (post: unknown) => Boolean(await posts.hasPassword?.(post))

  /** Checks whether a post that has a password is locked for a request. */
  const isLocked = async (post: unknown, request: unknown) => (await posts.isLocked?.(post, request)) ?? true

  async function renderInline(post: unknown, context: RenderContext): Promise<string> {
    if ((await hasPassword(post)) && (await isLocked(post, context.request))) return ''
    return render(post, context)
  }

  async function find(postId: number, context: RenderContext, isShared: boolean): Promise<CommentsAnswer> {
    const post = (await posts.find(postId)) ?? undefined
    if (post === undefined || !(await posts.isPublic(post))) return { found: false }
    const isPublic = !(await hasPassword(post))
    if (!isPublic && (await isLocked(post, context.request))) return { found: true, body: commentsBody(''), isPublic }
    const rendered = await render(post, context)
    const filtered = await hooks.applyFilters('lazycomments_rendered_html', rendered, post)
    const html = requireText(filtered, 'hook_failed', 'A subscriber to "lazycomments_rendered_html"')
    // A body for one reader must not be cached.
    return { found: true, body: isPublic && isShared ? publicBody(postId, html) : commentsBody(html), isPublic }
  }

  function answer(postId: number, context: RenderContext, sharedBy: string | undefined): Promise<CommentsAnswer> {
    if (sharedBy === undefined) return find(postId, context, false)
    const key = `${postId} ${sharedBy}`
    const known = underWay.get(key)
    // A post with a password may be unlocked for one request and locked for another, so renderings are not shared.
    if (known) return known.then((first) => (first.found && !first.isPublic ? find(postId, context, false) : first))
    // Abandon a rendering that never finishes, because it would block all later ones.
    const giveUp = setTimeout(() => underWay.delete(key), deadlineMs)
    const rendering = find(postId, context, true).finally(() => {
      clearTimeout(giveUp)
      if (underWay.get(key) === rendering) underWay.delete(key)
    })
    underWay.set(key, rendering)
    return rendering
  }

  return { settings: settingsNow, isLazy, renderInline, answer }
}

/** What decides whether comments load lazily or inline, besides the settings. */
interface ViewFacts {
  /** Whether the page shows only this post. */
  readonly single: boolean
  /** Number of approved comments on the post. */
  readonly count: number
  readonly userAgent: string | undefined
}

/** Decides, before any filter, whether the comments of a view load lazily. */
async function canLazyLoad(settings: CommentSettings, { single, count, userAgent }: ViewFacts): Promise<boolean> {
  if (settings.load_method === 'off') return false
  if (!single) return false
  if (count < Math.max(1, settings.minimum_count)) return false
  return !(settings.disable_for_bots && (await isBot(userAgent)))
}

/** Bot detection. Loaded by the first page view, because applications without posts do not need it. */
let detection: Promise<typeof import('isbot')> | undefined

/** Checks whether a user agent is that of a bot. A client without one counts as a bot. */
async function isBot(userAgent: string | undefined): Promise<boolean> {
  if (userAgent === undefined || userAgent.trim() === '') return true
  detection ??= import('isbot')
  return (await detection).isbot(userAgent)
}

/** How many characters of markup are cached in total. */
const CAPACITY = 8_000_000

/** The response body for rendered comments. */
export interface CommentsBody {
  /** JSON with an `html` key, encoded as sent. */
  readonly json: Buffer
  /** Strong ETag with quotes. The same markup has the same tag in every process. */
  readonly etag: string
}

/** Creates the response body for rendered comments. */
function commentsBody(html: string): CommentsBody {
  const json = Buffer.from(JSON.stringify({ html }))
  return { json, etag: `"${nodeCrypto().createHash('sha256').update(json).digest('base64url')}"` }
}

/**
 * Returns a function that creates response bodies and caches the latest one of each post.
 *
 * Comparing the markup of a long thread with the cached markup is much faster than encoding and hashing it again.
 */
export function commentsBodies(): (postId: number, html: string) => CommentsBody {
  const kept = new Map<number, { html: string; body: CommentsBody }>()
  let size = 0

  function forget(postId: number): void {
    size -= kept.get(postId)?.html.length ?? 0
    kept.delete(postId)
  }

  return (postId, html) => {
    const last = kept.get(postId)
    if (last?.html === html) return last.body
    const body = commentsBody(html)
    forget(postId)
    kept.set(postId, { html, body })
    size += html.length
    // Evict the entries that have been unchanged for longest.
    for (const oldest of kept.keys()) {
      if (size <= CAPACITY) break
      forget(oldest)
    }
    return body
  }
}
