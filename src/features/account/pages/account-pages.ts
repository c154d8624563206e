import type { HostRequest } from '../../../guard/host-types.ts'
import { icon } from '../../../pages/icons.ts'
import { html, type Markup } from '../../../pages/markup.ts'
import { pageDevice } from '../../../pages/page-device.ts'
import { pageDocument, pagePolicy } from '../../../pages/page-document.ts'
import { pageStyle } from '../../../pages/page-style.ts'
import type { Reader } from '../../../routes/caller.ts'
import { loginAddress } from '../../../routes/page-addresses.ts'
import { createTextsFor, type ReaderTexts, readerTexts, type TextsFor } from '../../../texts/texts-for.ts'
import type { AccountParts } from '../account-parts.ts'
import type { AccountDevices, AccountView } from '../account-view.ts'
import type { OwnSessions } from '../own-sessions.ts'
import type { ResolvedAccountOptions } from '../resolve-account-options.ts'
import { describeDevices } from './describe-devices.ts'
import { type DrawParts, drawAgain, drawConfirm, drawDevices, drawFailure } from './draw-page.ts'
import type { PageResult } from './page-result.ts'

/** Purpose of the nonces in forms. */
export const FORM_ACTION = 'account'

/** Which page is requested, and where it is mounted. */
export interface PageCall {
  readonly request: HostRequest
  readonly reader: Reader
  /** Path of the page. */
  readonly base: string
  readonly result: PageResult | undefined
}

/** Composes the pages: their content, and the document around it. */
export class AccountPages {
  readonly #parts: AccountParts
  readonly #own: OwnSessions
  readonly #options: ResolvedAccountOptions
  readonly #ownTexts: TextsFor
  readonly #style: ReturnType<typeof pageStyle>

  constructor(parts: AccountParts, own: OwnSessions) {
    this.#parts = parts
    this.#own = own
    this.#options = parts.options
    this.#ownTexts = createTextsFor(parts.options.texts, parts.logger)
    this.#style = pageStyle(parts.options.styles)
  }

  /** Returns the texts for a request. The page's own texts override the site's. */
  textsFor(request: HostRequest): ReaderTexts {
    return readerTexts({ ...this.#parts.textsFor(request).replaced, ...this.#ownTexts(request).replaced })
  }

  /** Returns the list of the user's sessions. */
  async devices(call: PageCall): Promise<AccountView> {
    const { request, reader, base, result } = call
    const { say } = this.textsFor(request)
    const list = await this.#own.list(reader)
    const { show } = this.#options
    const devices = await describeDevices(list, { base, page: pageOf(request), say, show, result })
    const parts = await this.#drawing(call, list.logic)
    return this.#view('devices', drawDevices(parts, devices), parts, devices)
  }

  /** Returns the page that asks before all others end. Resolves to undefined if there are no others. */
  async confirm(call: PageCall): Promise<AccountView | undefined> {
    const { say } = this.textsFor(call.request)
    const list = await this.#own.list(call.reader)
    const others = list.sessions.filter((record) => record !== list.current)
    if (others.length === 0) return undefined
    const names = await Promise.all(others.map(async (record) => (await pageDevice(record, say)).device))
    const parts = await this.#drawing(call, list.logic)
    return this.#view('confirm', drawConfirm(parts, names), parts)
  }

  /** Returns the page that asks for a proof elsewhere. */
  async again(call: PageCall, result: PageResult, proofUrl: string): Promise<AccountView> {
    const parts = await this.#drawing(call, '')
    return this.#view('again', drawAgain(parts, result, loginAddress(proofUrl, call.base)), parts)
  }

  failure(request: HostRequest, base: string, page: 'old' | 'away'): AccountView {
    const parts = { say: this.textsFor(request).say, action: base, proof: '', logoutUrl: undefined, logic: '' }
    return this.#view(page, drawFailure(parts, page), parts)
  }

  /** Returns the whole document of a view. */
  async document(view: AccountView): Promise<string> {
    const { render } = this.#options
    return render ? render(view) : pageDocument(view)
  }

  /** Returns the content security policy of a complete page. An application with its own layout needs its own policy. */
  policy(): string {
    const { frameAncestors, loginUrl, render, stepUp } = this.#options
    return pagePolicy(this.#style, frameAncestors, render ? undefined : [loginUrl, stepUp?.url ?? '/'])
  }

  async #drawing({ request, reader, base }: PageCall, logic: string): Promise<DrawParts> {
    const proof = await this.#parts.nonces.create({ ...reader, action: FORM_ACTION })
    const page = pageOf(request)
    const action = page > 1 ? `${base}?page=${page}` : base
    return { say: this.textsFor(request).say, action, proof, logoutUrl: this.#options.logoutUrl, logic }
  }

  #view(page: AccountView['page'], content: Markup, parts: DrawParts, devices?: AccountDevices): AccountView {
    const { say, action, proof } = parts
    const { url, title: site } = this.#parts.site ?? {}
    const heading = say('account_title')
    const back =
      url !== undefined &&
      html`<nav><a href="${url}">${icon('back')}${say('account_back', { site: site ?? url })}</a></nav>`
    return {
      page,
      title: site === undefined ? heading : `${heading} – ${site}`,
      lang: say('lang'),
      dir: say('dir'),
      html: html`${back}${content}`.text,
      css: this.#style.css,
      devices,
      action,
      proof,
      say,
    }
  }
}

/** Returns the page number that a request asks for. */
export function pageOf({ url = '' }: HostRequest): number {
  const page = Number(/[?&]page=(\d{1,4})(?:&|$)/.exec(url)?.[1] ?? 1)
  return Math.max(1, page)
}
