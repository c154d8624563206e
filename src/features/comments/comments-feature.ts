import type { IncomingMessage } from 'node:http'
import { htmlText } from '../../ground/answer-body.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { Logger } from '../../ground/logger.ts'
import { requireMethods } from '../../ground/option-checks.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { Host } from '../../host/host.ts'
import type { OptionChange } from '../../options/option-change.ts'
import type { SiteOption } from '../../options/site-option.ts'
import { type Caller, type Reader, requireCapability } from '../../routes/caller.ts'
import type { GuardedOption } from '../../routes/resources/site-options-routes.ts'
import { RestError, refusalOf } from '../../routes/rest-error.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { TextsFor } from '../../texts/texts-for.ts'
import { type BlockCache, createBlockCache } from './block-cache.ts'
import { commentAssets } from './comment-assets.ts'
import { createCommentRendering } from './comment-rendering.ts'
import { type CommentSettingsService, createCommentSettings } from './comment-settings.ts'
import type { CommentsRoutesParts } from './comments-routes.ts'
import { placeholder } from './placeholder.ts'
import type { CommentsHost } from './theme-rendering.ts'

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

interface CommentsParts {
  readonly host: CommentsHost & Pick<Host, 'can'>
  readonly store: SessmgrStore
  readonly hooks: Hooks
  readonly logger: Logger
  /** Path where the router is mounted. */
  readonly restPath: string
  readonly nonceHeader: string
  readonly deadlineMs: number
  readonly textsFor: TextsFor
  /** Called for each change of their settings. */
  noteChange?(change: OptionChange): void
  /** Returns the session of a request and its user. */
  readerOf(request: HostRequest): Reader | undefined
  /** Checks whether a request is from a signed-in user. @default whether it has a session with a user */
  isSignedIn?(request: HostRequest): boolean
  /** Returns the nonce of a signed-in reader. */
  nonceOf(request: IncomingMessage): Promise<string | undefined>
}

/** The lazy comments, as the service uses them. */
export interface CommentsFeature {
  /** The public methods. */
  readonly member: LazyComments
  /** The site option with their settings. */
  readonly option: GuardedOption
  /** Dependencies of their routes, created on demand. */
  readonly routeParts: CommentsRoutesParts
}

/**
 * Creates the lazy comments with their routes and option. Fires `lazycomments_init` in the next turn of the event loop,
 * once the application has had a chance to subscribe.
 */
export function createCommentsFeature(parts: CommentsParts): CommentsFeature {
  const { host, store, hooks, logger, restPath, nonceHeader, deadlineMs, readerOf, noteChange } = parts
  checkCommentsHost(host)
  const isSignedIn = parts.isSignedIn ?? ((request: HostRequest) => readerOf(request) !== undefined)
  const settings = createCommentSettings(store.options, hooks, noteChange)
  const cache = createBlockCache(store.transients)
  const rendering = createCommentRendering({ host, settings, cache, hooks, logger, deadlineMs })
  const base = `${restPath}/lazycomments/v1`

  async function makePlaceholder(post: unknown, request?: IncomingMessage): Promise<string> {
    const postId = host.posts.id(post)
    return placeholder({
      postId,
      postUrl: host.posts.url(post),
      source: `${base}/comments?post_id=${postId}`,
      nonce: request && (await parts.nonceOf(request)),
      nonceHeader,
      settings: await rendering.settings(),
      say: parts.textsFor(request).say,
    })
  }

  async function isLazy(request: IncomingMessage, post: unknown, single = true): Promise<boolean> {
    // The link in the placeholder adds `comments=all` to show the comments inline.
    const query = new URLSearchParams(request.url?.split('?').slice(1).join('?'))
    if (query.getAll('comments').includes('all')) return false
    return rendering.isLazy(post, { request, userAgent: request.headers['user-agent'], single })
  }

  const comments: LazyComments = {
    settings,
    cache,
    async render(request, post, { single } = {}) {
      if (await isLazy(request, post, single)) return makePlaceholder(post, request)
      return rendering.renderInline(post, { request, userId: readerOf(request as HostRequest)?.userId })
    },
    placeholder: makePlaceholder,
    async script(request, post, { nonce, single } = {}) {
      if (!(await isLazy(request, post, single))) return ''
      const url = (name: string) => htmlText(`${base}/assets/${name}`)
      const attribute = nonce === undefined ? '' : ` nonce="${htmlText(nonce)}"`
      return (
        `<link rel="stylesheet" href="${url(commentAssets.style.name)}"${attribute}>` +
        `<script type="module" src="${url(commentAssets.script.name)}"${attribute}></script>`
      )
    },
    themeSwitched: () => cache.flush_all(),
    activate: () => hooks.doAction('lazycomments_activated'),
    deactivate: () => hooks.doAction('lazycomments_deactivated'),
  }
  const option: GuardedOption = {
    option: settings.option as SiteOption,
    require: (caller) => requireCommentsAccess(hooks, host, caller),
  }
  const { vary: varies } = parts.textsFor
  const routeParts = { rendering, cache, access: option.require, nonceHeader, deadlineMs, isSignedIn, varies }
  setImmediate(() => void hooks.doAction('lazycomments_init', comments))
  return { routeParts, member: comments, option }
}

const NEEDED = ['find', 'id', 'url', 'isPublic', 'countComments'] as const
const OPTIONAL = ['hasPassword', 'isLocked'] as const

/**
 * Checks at startup that the posts and the theme have all required methods.
 *
 * @throws SessmgrError `invalid_option` that names the missing one.
 */
function checkCommentsHost({ posts, theme }: CommentsHost): void {
  requireMethods('host.posts', posts, [...NEEDED, ...OPTIONAL.filter((name) => posts[name] !== undefined)])
  const methods = theme as unknown as Readonly<Record<string, unknown>>
  const has = (name: string) => typeof methods[name] === 'function'
  if (typeof theme === 'function' || has('renderComments') || (has('template') && has('renderBlock'))) return
  throw invalidOption(
    '"host.theme" must have renderComments(), or template() and renderBlock(), or be a function that returns a theme',
  )
}

/**
 * Checks that a caller may manage the lazy comments: that they have the capability from `lazycomments_capability`. The
 * filter `lazycomments_has_access` has the last word, even about anonymous callers.
 *
 * @throws RestError `rest_forbidden` with 401 for an anonymous caller, or 403 for any other.
 */
async function requireCommentsAccess(hooks: Hooks, host: Pick<Host, 'can'>, caller: Caller | undefined): Promise<void> {
  const capability = await hooks.applyFilters('lazycomments_capability', 'manage_options')
  const refusal = await refusalOf(requireCapability(host, caller, capability))
  if (await hooks.applyFilters('lazycomments_has_access', refusal === undefined)) return
  throw refusal ?? new RestError(403, 'rest_forbidden', 'Your account is not allowed to do this.')
}
