import type { SignedValues } from '../../auth/signed-value.ts'
import type { CookieScope, Handler, HostResponse, RoutedRequest } from '../../door/host-types.ts'
import { addCookies, isEncrypted, LoginCookie } from '../../door/request/cookies.ts'
import { cookieScopeOf } from '../../door/request/visit.ts'
import { isStoreError } from '../../door/stores/store-error.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { Logger } from '../../ground/logger.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import { maximumInForce } from '../../limiter/decision/refusals.ts'
import type { SessionManager } from '../../limiter/manage-sessions.ts'
import type { SettingsService } from '../../options/session-settings.ts'
import { formBody } from '../../routes/body.ts'
import { refuseCrossOrigin } from '../../routes/caller.ts'
import { guestLoginAddress, loginAddress } from '../../routes/page-addresses.ts'
import { deviceName } from '../../sessions/device.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import type { Login, SessionRecord, Token } from '../../sessions/session-record.ts'
import type { LogicModes } from '../../strategies/logic-catalogue.ts'
import { describeDevices, drawAgain, drawConfirm, drawDevices, drawFailure, type OwnList } from './draw-account.ts'
import { html, icon, type Markup, type PageForm, pageDevice } from './markup.ts'
import { type PageAnswer, type PageCall, type PageDefinition, type PageParts, page } from './page.ts'
import type { ResolvedAccountOptions } from './page-options.ts'
import type { AccountDevices, AccountView, PageResult } from './page-views.ts'
import { type GuessParts, StepUp } from './proof.ts'

export interface AccountParts extends OwnSessionsParts, GuessParts, PageParts {
  readonly options: ResolvedAccountOptions
  readonly signed: SignedValues
  /** Returns the session of a request and its user. */
  readerOf(request: object): Login | undefined
  /** Checks whether the session of a request is still live. */
  isLive(reader: Login): Promise<boolean>
}

/** The account page, and what it shares with the REST routes. */
export interface Account {
  readonly handler: Handler
  readonly own: OwnSessions
  readonly stepUp: StepUp
  readonly showsIp: boolean
  view(request: RoutedRequest, response: HostResponse | undefined): Promise<AccountView | undefined>
}

/** Creates the account page. */
export function createAccount(parts: AccountParts): Account {
  const account = new AccountPage(parts)
  const { own, stepUp } = account
  const { handler, callFor } = page(account)
  return {
    handler,
    own,
    stepUp,
    showsIp: parts.options.show.ip === true,
    async view(request, response) {
      const reader = parts.readerOf(request)
      if (!reader) return undefined
      const result = response && (await account.results.take(request, response, reader))
      return account.devices(callFor(request), reader, result)
    },
  }
}

/** The session that a form asks to end, with the name of its device. Both are undefined if the form ends all others. */
interface Wish {
  readonly token: string | undefined
  readonly device: string | undefined
}

/** The page where users see and end their sessions. If a proof of identity is needed first, the page asks for it. */
class AccountPage implements PageDefinition {
  readonly name = 'account'
  readonly ownFields = ['proof', 'end', 'others', 'password', 'wanted']
  readonly parts: AccountParts
  readonly path: string | undefined
  readonly targets: readonly string[]
  readonly own: OwnSessions
  readonly stepUp: StepUp
  readonly results: PageResults

  constructor(parts: AccountParts) {
    this.parts = parts
    this.path = parts.options.path
    this.own = new OwnSessions(parts)
    this.stepUp = new StepUp(parts, parts.options.stepUp)
    this.targets = [parts.options.loginUrl, this.stepUp.url ?? '/']
    this.results = new PageResults(parts.signed)
  }

  async view(call: PageCall, response: HostResponse): Promise<PageAnswer> {
    const reader = this.parts.readerOf(call.request)
    if (!reader) return this.#toLogin(call)
    const result = await this.results.take(call.request, response, reader)
    const { kind } = result ?? {}
    const proofUrl = kind === 'login' ? this.parts.options.loginUrl : kind === 'url' ? this.stepUp.url : undefined
    if (result && proofUrl !== undefined) {
      const form = await call.form(reader, actionOf(call))
      return { view: this.#compose(call, 'again', drawAgain(form, result, loginAddress(proofUrl, call.path)), form) }
    }
    const question = /\?confirm\b/.test(call.request.url ?? '') ? await this.#confirm(call, reader) : undefined
    return { view: question ?? (await this.devices(call, reader, result)) }
  }

  async act(call: PageCall, response: HostResponse): Promise<PageAnswer> {
    const { request } = call
    const reader = this.parts.readerOf(request)
    const result = reader && (await this.#handle(call, reader))
    // Without a result, the session of the request has ended.
    if (!result) return this.#toLogin(call)
    await this.results.leave(request, response, reader, result)
    return { to: actionOf(call) }
  }

  fail(call: PageCall, kind: 'old' | 'away'): AccountView {
    return this.#compose(call, kind, drawFailure(call.say, call.path, kind))
  }

  /** Returns the view with the list of the user's sessions. */
  async devices(call: PageCall, reader: Login, result: PageResult | undefined): Promise<AccountView> {
    const { say, path: base, request } = call
    const { show, logoutUrl } = this.parts.options
    const list = await this.own.list(reader)
    const devices = await describeDevices(list, { base, page: pageOf(request), say, show, result })
    const form = await call.form(reader, actionOf(call))
    const content = drawDevices({ ...form, logoutUrl, mode: list.mode }, devices)
    return this.#compose(call, 'devices', content, form, devices)
  }

  /** Returns the view that asks for confirmation before all other sessions end, or undefined if there are none. */
  async #confirm(call: PageCall, reader: Login): Promise<AccountView | undefined> {
    const { sessions, current } = await this.own.list(reader)
    const others = sessions.filter((record) => record !== current)
    if (others.length === 0) return undefined
    const names = await Promise.all(others.map(async (record) => (await pageDevice(record, call.say)).device))
    const form = await call.form(reader, actionOf(call))
    return this.#compose(call, 'confirm', drawConfirm(form, names), form)
  }

  #compose(
    call: PageCall,
    kind: AccountView['page'],
    content: Markup,
    form?: PageForm,
    devices?: AccountDevices,
  ): AccountView {
    const { url, title = url } = this.parts.site ?? {}
    const back =
      url !== undefined &&
      html`<nav><a href="${url}">${icon('back')}${call.say('account_back', { site: title ?? '' })}</a></nav>`
    return call.compose(kind, call.say('account_title'), html`${back}${content}`, form, devices)
  }

  #toLogin({ request, path, say }: PageCall): PageAnswer {
    return { to: guestLoginAddress(request, this.parts.options.loginUrl, path), sentence: say('account_sign_in') }
  }

  /**
   * Handles a form. Resolves to undefined if the session of the request has ended.
   *
   * @throws RestError if the form is not from a page of this session.
   */
  async #handle(call: PageCall, reader: Login): Promise<PageResult | undefined> {
    const { request, say } = call
    refuseCrossOrigin(request)
    const form = await formBody(request)
    const isPassword = form.password !== undefined && this.stepUp.kind === 'password'
    const isWhole = isPassword || form.end !== undefined || form.others !== undefined
    await call.requireFromPage(isWhole ? form.proof : undefined, reader)
    // Reading the form can be slow, and the session may have ended in the meantime.
    if (!(await this.parts.isLive(reader))) return undefined
    const token = (isPassword ? form.wanted : form.end) || undefined
    const { sessions } = token === undefined ? { sessions: [] } : await this.own.list(reader)
    const record = sessions.find((one) => one.token === token && token !== reader.token)
    if (token !== undefined && !record) return { kind: 'gone' }
    const wish = { token, device: record && (await pageDevice(record, say)).device }
    if (isPassword) {
      const result = await this.stepUp.tryPassword(request, reader, form.password ?? '')
      return result.kind === 'right' ? { kind: 'proved', device: wish.device } : { ...wish, ...result }
    }
    if (!(await this.stepUp.isProved(reader))) return { kind: this.stepUp.kind as 'login', ...wish }
    return this.#end(reader, wish)
  }

  async #end(reader: Login, { token, device }: Wish): Promise<PageResult | undefined> {
    try {
      if (token !== undefined) return (await this.own.end(reader, token)) ? { kind: 'ended', device } : { kind: 'gone' }
      const count = await this.own.endOthers(reader)
      return count === undefined ? undefined : { kind: 'ended_others', count }
    } catch (error) {
      if (isStoreError(error)) return { kind: 'uncertain', device }
      throw error
    }
  }
}

/** Returns the page number that a request asks for. */
function pageOf({ url = '' }: RoutedRequest): number {
  return Math.max(1, Number(/[?&]page=(\d{1,4})(?:&|$)/.exec(url)?.[1] ?? 1))
}

/** Returns the URL of the current page of the list. */
function actionOf({ request, path }: PageCall): string {
  return pageOf(request) > 1 ? `${path}?page=${pageOf(request)}` : path
}

interface OwnSessionsParts {
  readonly options: Pick<ResolvedAccountOptions, 'show'>
  readonly sessions: SessionManager
  /** Ends all sessions of a user except one, and the user's pending logins. */
  readonly signOutOthers: SessionManager['endOthers']
  readonly settings: SettingsService
  readonly modes: LogicModes
  readonly hooks: Hooks
  readonly logger: Logger
}

/**
 * Lists and ends the caller's sessions. The user id is always the caller's own, so callers cannot reach the sessions of
 * others.
 */
class OwnSessions {
  readonly #parts: OwnSessionsParts

  constructor(parts: OwnSessionsParts) {
    this.#parts = parts
  }

  async list({ userId, token }: Login): Promise<OwnList> {
    const { sessions, settings, modes, hooks, logger, options } = this.#parts
    const [all, current] = await Promise.all([sessions.list(userId), settings.get()])
    const isShown = ({ token: one, counts }: SessionRecord) => counts || one === token
    const records = options.show.uncounted === false ? all.filter(isShown) : all
    return {
      sessions: records.toSorted((one, other) => other.lastSeenAt - one.lastSeenAt || other.sequence - one.sequence),
      current: records.find((record) => record.token === token),
      maximum: await maximumInForce({ hooks, settings, logger }, userId, current),
      mode: modes.strategyOf(current.logic),
    }
  }

  /** Ends one session. Resolves to false if the user has no such session, even if another user has it. */
  async end(reader: Login, token: Token): Promise<boolean> {
    return this.#parts.sessions.end(reader.userId, token, await this.#byUser(reader))
  }

  /**
   * Ends all of the caller's other sessions, and returns how many. If the current session has ended, ends none and
   * returns undefined.
   */
  async endOthers(reader: Login): Promise<number | undefined> {
    const { userId, token } = reader
    try {
      return await this.#parts.signOutOthers(userId, token, await this.#byUser(reader))
    } catch (error) {
      // This code means that the session to keep is no longer registered.
      if (error instanceof SessmgrError && error.code === 'invalid_option') return undefined
      throw error
    }
  }

  /** Describes the caller and their device, for the notice on the devices that are signed out. */
  async #byUser({ userId, token }: Login): Promise<EndedByWhom> {
    const own = (await this.#parts.sessions.list(userId)).find((record) => record.token === token)
    const { name } = await deviceName(own?.userAgent ?? null)
    return { by: 'user', actor: userId, device: name ?? undefined }
  }
}

const LIFE_MS = 60_000
const RESULT_COOKIE = new LoginCookie('sessmgr_account')

/** Passes results to the next page in a signed cookie, which is valid for one session and one minute. */
class PageResults {
  readonly #signed: SignedValues

  constructor(signed: SignedValues) {
    this.#signed = signed
  }

  async leave(request: RoutedRequest, response: HostResponse, reader: Login, result: PageResult): Promise<void> {
    const value = await this.#signed.sign(purposeOf(reader), result, LIFE_MS)
    addCookies(response, [RESULT_COOKIE.write(value, LIFE_MS / 1000, scopeOf(request))])
  }

  /** Returns the result of the last form, and removes its cookie. */
  async take(request: RoutedRequest, response: HostResponse, reader: Login): Promise<PageResult | undefined> {
    const text = RESULT_COOKIE.read(request.headers.cookie, scopeOf(request))
    if (text === undefined) return undefined
    addCookies(response, RESULT_COOKIE.remove(scopeOf(request)))
    return (await this.#signed.read(purposeOf(reader), text)) as PageResult | undefined
  }
}

const purposeOf = ({ token }: Login): string => `account ${token}`

/** Returns where the cookie applies. It works for the whole site, because proxies may change the path of the page. */
function scopeOf(request: RoutedRequest): CookieScope {
  return { secure: isEncrypted(request) || cookieScopeOf(request).secure === true }
}
