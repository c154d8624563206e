import type { IncomingMessage } from 'node:http'
import { htmlText } from '../../ground/answer-body.ts'
import type { Logger } from '../../ground/logger.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { Host } from '../../host/host.ts'
import type { OptionChange } from '../../options/option-change.ts'
import type { SiteOption } from '../../options/site-option.ts'
import type { Reader } from '../../routes/caller.ts'
import type { GuardedOption } from '../../routes/settings/option-access.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { TextsFor } from '../../texts/texts-for.ts'
import { checkCommentsHost } from './check-comments-host.ts'
import { commentAssets } from './comment-assets.ts'
import { createCommentSettings } from './comment-settings.ts'
import { requireCommentsAccess } from './comments-access.ts'
import type { CommentsRoutesParts } from './comments-routes.ts'
import type { LazyComments } from './lazy-comments.ts'
import { placeholder } from './placeholder.ts'
import { createBlockCache } from './rendering/block-cache.ts'
import { createCommentRendering } from './rendering/comment-rendering.ts'
import type { CommentsHost } from './rendering/theme-rendering.ts'

export interface CommentsParts {
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
