import type { IncomingMessage } from 'node:http'
import type { RoutedRequest } from '../../door/host-types.ts'
import { ownRequestOf, type RequestLike } from '../../door/request/visit.ts'
import type { Logger } from '../../ground/logger.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { Host } from '../../host/host.ts'
import type { OptionChange } from '../../options/option-change.ts'
import { RestError, refusalOf } from '../../routes/answer.ts'
import { type Caller, requireCapability } from '../../routes/caller.ts'
import type { RestRoute } from '../../routes/router.ts'
import type { Login } from '../../sessions/session-record.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { LATE_TEXTS } from '../../texts/english.ts'
import { addLateTexts } from '../../texts/text-catalogue.ts'
import { htmlText, type Say, type TextsFor } from '../../texts/texts-for.ts'
import { createCommentRendering } from './comment-rendering.ts'
import { COMMENT_DEFAULTS, createCommentSettings } from './comment-settings.ts'
import { commentAssets, commentsRoutes } from './comments-routes.ts'
import type { CommentSettings, LazyComments } from './lazy-comments.ts'
import { type CommentsHost, createBlockCache } from './theme-rendering.ts'

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
  /** Called for each change to the settings of the comments. */
  noteChange?(change: OptionChange): void
  /** Returns the session of a request and its user. */
  readerOf(request: object): Login | undefined
  /** Checks whether a request is from a signed-in user. @default whether it has a session with a user */
  isSignedIn?(request: RoutedRequest): boolean
  /** Returns the nonce of a signed-in reader. */
  nonceOf(request: object): Promise<string | undefined>
}

/** The lazy comments, once their code is loaded. */
export interface LoadedComments {
  readonly member: LazyComments
  readonly routes: readonly RestRoute[]
  /** Checks that a caller may manage the lazy comments. @throws RestError `rest_forbidden` */
  requireAccess(caller: Caller | undefined): Promise<void>
}

/** Creates the lazy comments. */
export function createComments(parts: CommentsParts): LoadedComments {
  addLateTexts(LATE_TEXTS)
  const { host, store, hooks, logger, restPath, nonceHeader, deadlineMs, readerOf, noteChange } = parts
  const isSignedIn = parts.isSignedIn ?? ((request: object) => readerOf(request) !== undefined)
  const settings = createCommentSettings(store.options, hooks, noteChange)
  const cache = createBlockCache(store.transients)
  const rendering = createCommentRendering({ host, settings, cache, hooks, logger, deadlineMs })
  const base = `${restPath}/lazycomments/v1`

  async function makePlaceholder(post: unknown, request?: RequestLike): Promise<string> {
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

  async function isLazy(request: RequestLike, post: unknown, single = true): Promise<boolean> {
    // The link in the placeholder adds `comments=all` to show the comments inline.
    const { url, headers } = request as IncomingMessage
    const query = new URLSearchParams(url?.split('?').slice(1).join('?'))
    if (query.getAll('comments').includes('all')) return false
    return rendering.isLazy(post, { request, userAgent: headers['user-agent'], single })
  }

  const comments: LazyComments = {
    settings,
    cache,
    async render(request, post, { single } = {}) {
      if (await isLazy(request, post, single)) return makePlaceholder(post, request)
      return rendering.renderInline(post, { request: ownRequestOf(request), userId: readerOf(request)?.userId })
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
  const access = (caller: Caller | undefined) => requireCommentsAccess(hooks, host, caller)
  const routeParts = { rendering, cache, access, nonceHeader, deadlineMs, isSignedIn }
  return { member: comments, routes: commentsRoutes(routeParts), requireAccess: access }
}

/**
 * Checks that a caller may manage the lazy comments. The `lazycomments_capability` filter sets the required capability,
 * but the `lazycomments_has_access` filter has the last word, even about anonymous callers.
 *
 * @throws RestError `rest_forbidden` with 401 for an anonymous caller, or 403 for any other.
 */
async function requireCommentsAccess(hooks: Hooks, host: Pick<Host, 'can'>, caller: Caller | undefined): Promise<void> {
  const capability = await hooks.applyFilters('lazycomments_capability', 'manage_options')
  const refusal = await refusalOf(requireCapability(host, caller, capability))
  if (await hooks.applyFilters('lazycomments_has_access', refusal === undefined)) return
  throw refusal ?? new RestError(403, 'rest_forbidden', 'Your account is not allowed to do this.')
}

/** The data of a placeholder. */
interface PlaceholderParts {
  readonly postId: number
  /** URL of the post's page. With `comments=all` added, the page shows the comments inline. */
  readonly postUrl: string
  /** URL that the script fetches. */
  readonly source: string
  /** Nonce of a signed-in reader. */
  readonly nonce: string | undefined
  readonly nonceHeader: string
  readonly settings: CommentSettings
  /** Returns a text in the reader's language. */
  readonly say: Say
}

/** Texts of the script, by attribute. They are part of the page, so that the script is the same in every language. */
const SAID = {
  done: 'comments_loaded_other',
  one: 'comments_loaded_one',
  lost: 'comments_lost',
  stale: 'comments_stale',
  error: 'comments_failed',
  later: 'comments_failed_until',
  retry: 'comments_retry',
} as const

/**
 * Renders the placeholder: a custom element around a real link, for search engines and readers without the script. The
 * elements for messages exist from the start, so that screen readers announce their content.
 */
export function placeholder({ settings, nonce, say, ...parts }: PlaceholderParts): string {
  const attributes = {
    post: String(parts.postId),
    src: parts.source,
    method: settings.load_method,
    ...(settings.show_loader ? { loader: '' } : {}),
    ...(nonce === undefined ? {} : { 'data-nonce': nonce, 'data-nonce-header': parts.nonceHeader }),
    ...Object.fromEntries(Object.entries(SAID).map(([name, key]) => [`data-${name}`, say(key)])),
  }
  const style = settings.button_style === 'custom' ? ['lazycomments-custom'] : []
  const classes = ['lazycomments-button', ...style, ...settings.button_class.split(' ')].filter(Boolean).join(' ')
  const url = inlineUrl(parts.postUrl)
  const isOwn = settings.button_text !== COMMENT_DEFAULTS.button_text
  const label = isOwn ? settings.button_text : say('comments_button')
  const link = `<a class="${htmlText(classes)}" href="${htmlText(url)}">${htmlText(label)}</a>`
  const print = `<span class="lazycomments-print">${htmlText(say('comments_print', { url }))}</span>`
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${htmlText(value)}"`)
  const note = (role: string) => `<span class="lazycomments-${role}" role="${role}"></span>`
  return `<lazy-comments id="comments"${written.join('')}>${note('status')}${note('alert')}${link}${print}</lazy-comments>`
}

function inlineUrl(postUrl: string): string {
  const [page = ''] = isWebAddress(postUrl) ? postUrl.split('#', 1) : []
  return `${page}${page.includes('?') ? '&' : '?'}comments=all#comments`
}

/**
 * Checks whether a string is a web URL, because any other URL could run a script. If not, the link points to the
 * current page.
 */
const isWebAddress = (url: string) =>
  URL.canParse(url, 'http://page') && /^https?:$/.test(new URL(url, 'http://page').protocol)
