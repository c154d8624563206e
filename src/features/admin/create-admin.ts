import { randomBytes } from 'node:crypto'
import { errorBody } from '../../ground/answer-body.ts'
import type { Handler, HostRequest, HostResponse, Next } from '../../guard/host-types.ts'
import { guardedRequestOf } from '../../guard/request/host-visit.ts'
import type { Host } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/signed-in-user.ts'
import type { Caller } from '../../routes/caller.ts'
import { acceptsCoding } from '../../routes/compressed.ts'
import { loginAddress } from '../../routes/page-addresses.ts'
import { answerSafely } from '../../routes/rest-answer.ts'
import { refusalOf } from '../../routes/rest-error.ts'
import { sendBody, sendPage } from '../../routes/send-page.ts'
import type { GuardedOption } from '../../routes/settings/option-access.ts'
import type { ReaderTexts, TextsFor } from '../../texts/texts-for.ts'
import { type AdminAsset, createAdminAssets } from './admin-assets.ts'
import { FIRST_TAB } from './admin-frame.ts'
import { adminPage, forbiddenPage, signedInPage } from './admin-page.ts'
import { contentPolicy } from './content-policy.ts'
import { firstNeeds } from './first-needs.ts'
import type { ResolvedAdminOptions } from './resolve-admin-options.ts'
import { type ScriptVarsParts, scriptVars } from './script-vars.ts'

export interface AdminParts extends ScriptVarsParts {
  readonly host: Host
  readonly nonceHeader: string
  readonly findSignedIn: FindSignedIn
  /** Returns the nonce of the signed-in user. */
  nonceOf(request: HostRequest): Promise<string | undefined>
  readonly textsFor: TextsFor
  /** Scripts and style sheets that add-ons have added. */
  readonly enqueued: ReadonlySet<string>
  /** Called for each request for the page. */
  notePage(request: HostRequest): void
  /** The option of the lazy comments, if the application uses them. Users who may change it see that tab. */
  readonly commentsOption: GuardedOption | undefined
  /** Whether the people who are signed in can be listed. */
  readonly hasDirectory: boolean
  /** Longest time between updates of a session's last use. */
  readonly touchEveryMs: number
  /** URL of the site, for a link back to it. */
  readonly siteUrl: string | undefined
  /** The folder of the built files. */
  readonly folder: string
  readonly options: ResolvedAdminOptions
}

/** Path of the page where a login in a second tab ends. */
const SIGNED_IN = 'signed-in'
const FOR_EVER = 'public, max-age=31536000, immutable'

/**
 * Returns the admin screen's middleware, for users with `manage_options`. Users who may only manage the lazy
 * comments see only that tab.
 */
export function createAdmin(parts: AdminParts): Handler {
  const { nonceHeader } = parts
  const { loginUrl, path: mountedAt, support, ...resolved } = parts.options
  const { can, users } = parts.host
  const assets = createAdminAssets(parts.folder)

  return function sessmgrAdmin(request: HostRequest, response: HostResponse, next: Next): void {
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

  async function answerAsset(request: HostRequest, response: HostResponse, name: string): Promise<boolean> {
    const asset = await assets.find(name)
    if (!asset) return false
    const [coding, body] = encodedFor(String(request.headers['accept-encoding']), asset)
    if (coding) response.setHeader('Content-Encoding', coding)
    response.setHeader('Vary', 'Accept-Encoding')
    sendBody(request, response, { type: asset.type, cache: FOR_EVER, body })
    return true
  }

  async function answerPage(
    request: HostRequest,
    response: HostResponse,
    tab: string,
    query: URLSearchParams,
  ): Promise<void> {
    parts.notePage(request)
    const base = mountedAt ?? (typeof request.baseUrl === 'string' ? request.baseUrl : '')
    const wantsVars = /^application\/json\b/.test(request.headers.accept ?? '')
    const session = guardedRequestOf(request).sessmgr?.session
    const user = session && (await parts.findSignedIn(session.userId))
    const nonce = user === undefined ? undefined : await parts.nonceOf(request)
    const isManager = nonce !== undefined && (await can(user, 'manage_options'))
    const hasComments = session !== undefined && nonce !== undefined && (await mayManageComments({ user, ...session }))
    const refusal = nonce === undefined ? 401 : isManager || hasComments ? undefined : 403
    const texts = parts.textsFor(request)
    response.setHeader('Vary', 'Accept, Cookie')
    if (wantsVars) {
      // The screen requests this to replace an expired nonce.
      const body = refusal ? refusalBody(refusal, texts) : await scriptVars(parts, { base, nonce: nonce ?? '', texts })
      return sendPage(request, response, refusal ?? 200, JSON.stringify(body), 'application/json; charset=utf-8')
    }
    if (refusal === 401) return sendToLogin(request, response, texts.say('page_sign_in'))
    const only = isManager ? undefined : 'comments'
    const open = tab || only || FIRST_TAB
    const needs = firstNeeds(refusal || (only && open !== only) ? '' : open, query, parts.hasDirectory)
    const entry = await assets.entry(needs.modules)
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
          isPerson: Boolean(query.get('user')),
          userName: users.summary(user).display_name,
          siteUrl: parts.siteUrl,
          hasDirectory: parts.hasDirectory,
          canSearch: users.search !== undefined,
          touchEveryMs: parts.touchEveryMs,
          tab: open,
          calls: needs.calls,
          hasComments,
          only,
          vars: await scriptVars(parts, { base, nonce: nonce ?? '', texts }),
        })
    sendPage(request, response, refusal ?? 200, page)
  }

  async function mayManageComments(caller: Caller): Promise<boolean> {
    return parts.commentsOption !== undefined && !(await refusalOf(parts.commentsOption.require(caller)))
  }

  function sendToLogin(request: HostRequest, response: HostResponse, sentence: string): void {
    const asked = typeof request.originalUrl === 'string' ? request.originalUrl : undefined
    response.setHeader('Location', asked === undefined ? loginUrl : loginAddress(loginUrl, asked))
    sendPage(request, response, 302, sentence, 'text/plain; charset=utf-8')
  }
}

function encodedFor(accepted: string, { brotli, gzipped, bytes }: AdminAsset): readonly [string | undefined, Buffer] {
  if (brotli && acceptsCoding(accepted, 'br')) return ['br', brotli]
  return acceptsCoding(accepted, 'gzip') ? ['gzip', gzipped] : [undefined, bytes]
}

function refusalBody(status: 401 | 403, { say }: ReaderTexts): object {
  const message = say(status === 401 ? 'rest_sign_in' : 'rest_forbidden')
  return errorBody('rest_forbidden', message, status)
}
