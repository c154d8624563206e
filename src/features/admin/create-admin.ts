import { randomBytes } from 'node:crypto'
import type { Handler, HostResponse, Next, RoutedRequest } from '../../door/host-types.ts'
import { visitOf } from '../../door/request/visit.ts'
import { SLUG, VERSION } from '../../ground/constants.ts'
import { errorBody, SessmgrError } from '../../ground/errors.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { LogicCatalogue } from '../../hooks/session-hooks.ts'
import type { Host, UserSummary } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/users.ts'
import { acceptsCoding, answerSafely, refusalOf, sendBody, sendPage } from '../../routes/answer.ts'
import type { Caller } from '../../routes/caller.ts'
import { guestLoginAddress, isStyleSheet, originOf } from '../../routes/page-addresses.ts'
import type { GuardedOption } from '../../routes/resources/settings-routes.ts'
import type { LogicModes } from '../../strategies/logic-catalogue.ts'
import type { Texts } from '../../texts/text-catalogue.ts'
import type { ReaderTexts, TextsFor } from '../../texts/texts-for.ts'
import { type AdminAsset, createAdminAssets } from './admin-assets.ts'
import { adminPage, forbiddenPage, signedInPage } from './admin-page.ts'
import type { ResolvedAdminOptions } from './resolve-admin-options.ts'
import { FIRST_TAB, firstNeeds, type ScreenUser } from './screen-tabs.ts'

export interface AdminParts extends ScriptVarsParts {
  readonly host: Host
  readonly nonceHeader: string
  readonly findSignedIn: FindSignedIn
  /** Returns the nonce of the signed-in user. */
  nonceOf(request: object): Promise<string | undefined>
  readonly textsFor: TextsFor
  /** Scripts and style sheets that add-ons have added. */
  readonly enqueued: ReadonlySet<string>
  /** Called for each request for the page. */
  notePage(request: RoutedRequest): void
  /** The option of the lazy comments, if the application uses them. Users who may change it see the Comments tab. */
  readonly commentsOption: GuardedOption | undefined
  /** Checks whether the Add-ons tab has anything to show. */
  hasAddons(): Promise<boolean>
  /** Whether the activity is recorded. */
  readonly hasActivity: boolean
  /** Whether the signed-in users can be listed. */
  readonly hasDirectory: boolean
  /** Milliseconds between two updates of a session's last use. Short sessions are updated more often. */
  readonly touchEveryMs: number
  /** URL of the site, for a link back to it. */
  readonly siteUrl: string | undefined
  /** The folder of the built files. */
  readonly folder: string
  readonly options: ResolvedAdminOptions
}

/** Path of the page shown after a login in a second tab. */
const SIGNED_IN = 'signed-in'
const FOR_EVER = 'public, max-age=31536000, immutable'

/**
 * Returns the admin screen's middleware, for users with `manage_options`. Users who may manage only the lazy comments
 * see only the Comments tab.
 */
export function createAdmin(parts: AdminParts): Handler {
  const { nonceHeader } = parts
  const { loginUrl, path: mountedAt, support, ...resolved } = parts.options
  const { can, users } = parts.host
  const assets = createAdminAssets(parts.folder)

  return function sessmgrAdmin(request: RoutedRequest, response: HostResponse, next: Next): void {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next()
    const [path = '/', query] = (request.url ?? '/').split('?', 2)
    const asset = /^\/assets\/([^/]+)$/.exec(path)?.[1]
    if (asset !== undefined) {
      const answering = answerAsset(request, response, asset).then((found) => found || next())
      answerSafely(response, answering, next)
      return
    }
    const tab = /^\/?([^/]*)\/?$/.exec(path)?.[1]
    if (tab === undefined) next()
    else answerSafely(response, answerPage(request, response, tab, new URLSearchParams(query)), next)
  }

  async function answerAsset(request: RoutedRequest, response: HostResponse, name: string): Promise<boolean> {
    const asset = await assets.find(name)
    if (!asset) return false
    const [coding, body] = encodedFor(String(request.headers['accept-encoding']), asset)
    if (coding) response.setHeader('Content-Encoding', coding)
    response.setHeader('Vary', 'Accept-Encoding')
    sendBody(request, response, { type: asset.type, cache: FOR_EVER, body })
    return true
  }

  async function answerPage(
    request: RoutedRequest,
    response: HostResponse,
    tab: string,
    query: URLSearchParams,
  ): Promise<void> {
    parts.notePage(request)
    const base = mountedAt ?? request.baseUrl ?? ''
    const wantsVars = /^application\/json\b/.test(request.headers.accept ?? '')
    const session = visitOf(request)?.sessmgr?.session
    const user = session && (await parts.findSignedIn(session.userId))
    const nonce = user === undefined ? undefined : await parts.nonceOf(request)
    const isManager = nonce !== undefined && (await can(user, 'manage_options'))
    const hasComments = session !== undefined && nonce !== undefined && (await mayManageComments({ user, ...session }))
    const refusal = nonce === undefined ? 401 : isManager || hasComments ? undefined : 403
    const texts = parts.textsFor(request)
    response.setHeader('Vary', 'Accept, Cookie')
    if (wantsVars) {
      // The screen requests its variables again to replace an expired nonce.
      const given = { base, nonce: nonce ?? '', texts }
      const body = refusal ? refusalBody(refusal, texts) : await freshVars(parts, given, users.summary(user))
      return sendPage(request, response, refusal ?? 200, JSON.stringify(body), 'application/json; charset=utf-8')
    }
    if (refusal === 401) return sendToLogin(request, response, texts.say('page_sign_in'))
    const only = isManager ? undefined : 'comments'
    const open = tab || only || FIRST_TAB
    const needs = firstNeeds(refusal || (only && open !== only) ? '' : open, query, parts.hasDirectory)
    const entry = await assets.entry(needs.parts)
    const mark = randomBytes(16).toString('base64url')
    const scripts = [...new Set([...resolved.scripts, ...parts.enqueued])]
    response.setHeader('Content-Security-Policy', contentPolicy({ ...resolved, scripts, nonce: mark }))
    if (!refusal && tab === SIGNED_IN) return sendPage(request, response, 200, signedInPage({ base, entry, texts }))
    const page = refusal
      ? forbiddenPage({ base, entry, loginUrl, texts })
      : adminPage({
          base,
          entry,
          nonce: mark,
          nonceHeader,
          scripts,
          texts,
          support,
          user: screenUser(users.summary(user)),
          canSearch: users.search !== undefined,
          touchEveryMs: parts.touchEveryMs,
          tab: open,
          ...(({ siteUrl, hasDirectory, hasActivity }) => ({ siteUrl, hasDirectory, hasActivity }))(parts),
          ...needs,
          hasComments,
          hasAddons: await parts.hasAddons(),
          only,
          vars: await scriptVars(parts, { base, nonce: nonce ?? '', texts }),
        })
    sendPage(request, response, refusal ?? 200, page)
  }

  async function mayManageComments(caller: Caller): Promise<boolean> {
    return parts.commentsOption !== undefined && !(await refusalOf(parts.commentsOption.require(caller)))
  }

  function sendToLogin(request: RoutedRequest, response: HostResponse, sentence: string): void {
    const { originalUrl: asked } = request
    response.setHeader('Location', asked === undefined ? loginUrl : guestLoginAddress(request, loginUrl, asked))
    sendPage(request, response, 302, sentence, 'text/plain; charset=utf-8')
  }
}

function encodedFor(accepted: string, { brotli, gzipped, bytes }: AdminAsset): readonly [string | undefined, Buffer] {
  if (brotli && acceptsCoding(accepted, 'br')) return ['br', brotli]
  return acceptsCoding(accepted, 'gzip') ? ['gzip', gzipped] : [undefined, bytes]
}

/** Returns who uses the screen. */
function screenUser({ id, login, display_name }: UserSummary): ScreenUser {
  return { id, name: display_name.trim() || login }
}

function refusalBody(status: 401 | 403, { say }: ReaderTexts): object {
  const message = say(status === 401 ? 'rest_sign_in' : 'rest_forbidden')
  return errorBody('rest_forbidden', message, status)
}

interface PolicyParts {
  /** Nonce of the scripts that the policy allows. */
  readonly nonce: string
  /** Add-on scripts and style sheets. */
  readonly scripts: readonly string[]
  readonly scriptOrigins: readonly string[]
  readonly frameAncestors: readonly string[]
}

/** Returns the content security policy of the page: no inline code without the nonce, and no eval. */
function contentPolicy({ nonce, scripts, scriptOrigins, frameAncestors }: PolicyParts): string {
  const originsOf = (addresses: readonly string[]) => addresses.flatMap((address) => originOf(address) ?? [])
  const styles = scripts.filter(isStyleSheet)
  const codes = scripts.filter((address) => !isStyleSheet(address))
  const directives: Record<string, readonly string[]> = {
    'default-src': ["'none'"],
    'script-src': ["'self'", `'nonce-${nonce}'`, ...originsOf(codes), ...scriptOrigins],
    'style-src': ["'self'", ...originsOf(styles)],
    // The add-on catalogue contains URLs of icons and banners.
    'img-src': ["'self'", 'data:', 'https:'],
    'font-src': ["'self'"],
    'connect-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': frameAncestors.length > 0 ? frameAncestors : ["'none'"],
  }
  return Object.entries(directives)
    .map(([name, sources]) => [name, ...new Set(sources)].join(' '))
    .join('; ')
}

interface ScriptVarsParts {
  readonly hooks: Hooks
  readonly modes: LogicModes
  /** Path of the REST routes. */
  readonly restPath: string
}

/**
 * Returns the initial content of `window.sessmgr`, passed through the `sessmgr_admin_script_vars` filter.
 *
 * @throws SessmgrError `hook_failed` if a subscriber fails or does not return an object.
 */
export async function scriptVars(
  { hooks, modes, restPath }: ScriptVarsParts,
  { base, nonce, texts }: { base: string; nonce: string; texts: ReaderTexts },
): Promise<Readonly<Record<string, unknown>>> {
  const vars: unknown = await hooks.applyFilters('sessmgr_admin_script_vars', {
    version: VERSION,
    slug: SLUG,
    name: texts.say('product_name'),
    page: 'admin',
    restUrl: `${restPath}/`,
    restNonce: nonce,
    adminUrl: `${base}/`,
    logics: inLanguage(await modes.catalogue(), texts.replaced),
  })
  if (typeof vars === 'object' && vars !== null && !Array.isArray(vars)) return vars as Record<string, unknown>
  throw new SessmgrError('hook_failed', 'A subscriber to "sessmgr_admin_script_vars" did not return an object.')
}

/** Returns the variables and whom they are for, which the screen asks for to replace an expired nonce. */
async function freshVars(...[parts, given, user]: [...Parameters<typeof scriptVars>, UserSummary]): Promise<object> {
  return { ...(await scriptVars(parts, given)), user: screenUser(user) }
}

/** Replaces the display texts of modes with the texts that the application has set. */
function inLanguage(logics: LogicCatalogue, texts: Texts): LogicCatalogue {
  const given = texts as Readonly<Record<string, string | undefined>>
  const entries = Object.entries(logics).map(([id, { label, desc }]) => [
    id,
    { label: given[`logic_${id}`] ?? label, desc: given[`logic_${id}_desc`] ?? desc },
  ])
  return Object.fromEntries(entries)
}
