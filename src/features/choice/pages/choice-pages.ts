import { createHash } from 'node:crypto'
import type { HostRequest } from '../../../guard/host-types.ts'
import type { Markup } from '../../../pages/markup.ts'
import { pageDocument, pagePolicy } from '../../../pages/page-document.ts'
import { pageStyle } from '../../../pages/page-style.ts'
import { mountPath } from '../../../routes/page-addresses.ts'
import { createTextsFor, type ReaderTexts, readerTexts, type TextsFor } from '../../../texts/texts-for.ts'
import type { OpenChoice } from '../choice-outcome.ts'
import type { ChoiceParts } from '../choice-parts.ts'
import type { ChoiceView } from '../choice-view.ts'
import { describeChoice } from './describe-choice.ts'
import { type DrawParts, drawChoice, drawEnd, drawRoom } from './draw-choice.ts'

/** Purpose of the nonces in forms. */
const FORM_ACTION = 'choice'

/** Composes the pages: their content, and the document around it. */
export class ChoicePages {
  readonly #parts: ChoiceParts
  readonly #ownTexts: TextsFor
  readonly #style: ReturnType<typeof pageStyle>

  constructor(parts: ChoiceParts) {
    this.#parts = parts
    this.#ownTexts = createTextsFor(parts.options.texts, parts.logger)
    this.#style = pageStyle(parts.options.styles)
  }

  /** Returns the texts for a request. The page's own texts override the site's. */
  textsFor(request?: unknown): ReaderTexts {
    return readerTexts({ ...this.#parts.textsFor(request).replaced, ...this.#ownTexts(request).replaced })
  }

  /** Returns the page where the user chooses, or the page for a choice that is no longer needed. */
  async choice(request: HostRequest, open: OpenChoice): Promise<ChoiceView> {
    const { say } = this.textsFor(request)
    const { idle_release: idle } = await this.#parts.settings.get()
    const { showsIp } = this.#parts.options
    const devices = await describeChoice(open, { say, showsIp, idleMs: idle * 1000 })
    const parts = this.#drawing(request, await this.#parts.nonces.create(subjectOf(open)))
    if (!devices) return this.#view(parts, 'room', say('choice_room_title'), drawRoom(parts, open.problem))
    const title = devices.rows.length === 1 && devices.maximum === 1 ? 'choice_only_title' : 'choice_title'
    const heading = open.problem ? say('choice_error', { title: say(title) }) : say(title)
    return this.#view(parts, 'choose', heading, drawChoice(parts, devices), devices)
  }

  /** Returns a page for a user who cannot choose. */
  end(request: HostRequest, page: 'often' | 'old' | 'away' | 'spent', until?: number): ChoiceView {
    const parts = this.#drawing(request, '')
    const { say } = parts
    const title = say(page === 'often' ? 'choice_often' : page === 'old' ? 'account_old' : 'choice_away')
    return this.#view(parts, page, title, drawEnd(parts, page, until))
  }

  /** Checks that a form is from the page of this pending login. */
  isFromPage(proof: string | undefined, open: Pick<OpenChoice, 'secret' | 'login'>): Promise<boolean> {
    return this.#parts.nonces.verify(proof ?? '', subjectOf(open))
  }

  /** Returns the whole document of a view. */
  async document(view: ChoiceView): Promise<string> {
    const { render } = this.#parts.options
    return render ? render(view) : pageDocument(view)
  }

  /** Returns the content security policy of a complete page. An application with its own layout needs its own policy. */
  policy(): string {
    const { frameAncestors, loginUrl, successRedirect, render } = this.#parts.options
    return pagePolicy(this.#style, frameAncestors, render ? undefined : [loginUrl, successRedirect])
  }

  #drawing(request: HostRequest, proof: string): DrawParts {
    const { say } = this.textsFor(request)
    const { verify, field, loginUrl } = this.#parts.options
    const own = verify && { name: field.name, label: field.label ?? say('choice_field') }
    return { say, action: mountPath(request), proof, loginUrl, field: own }
  }

  #view(
    { say, action, proof }: DrawParts,
    page: ChoiceView['page'],
    heading: string,
    content: Markup,
    devices?: ChoiceView['devices'],
  ): ChoiceView {
    const { title: site } = this.#parts.site ?? {}
    const title = site === undefined ? heading : `${heading} – ${site}`
    const { css } = this.#style
    return { page, title, lang: say('lang'), dir: say('dir'), html: content.text, css, devices, action, proof, say }
  }
}

/** A proof is valid for one pending login. */
function subjectOf({ secret, login }: Pick<OpenChoice, 'secret' | 'login'>) {
  const token = createHash('sha256').update(`proof ${secret}`).digest('hex')
  return { userId: login.userId, token, action: FORM_ACTION }
}
