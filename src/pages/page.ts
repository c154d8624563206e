import type { NonceSubject, Nonces } from '../auth/nonce.ts'
import { RETRY_SOON, SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { Logger } from '../ground/logger.ts'
import type { Handler, HostRequest, HostResponse } from '../guard/host-types.ts'
import { asUnavailable } from '../guard/stores/store-error.ts'
import { orderWarning } from '../middleware/guard-order.ts'
import { answerSafely, RestAnswer, RestError, redirect, sendAnswer, sendPage } from '../routes/answer.ts'
import { mountPath, originOf } from '../routes/page-addresses.ts'
import { createTextsFor, type ReaderTexts, readerTexts, type Say, type TextsFor } from '../texts/texts-for.ts'
import { html, Markup, type PageForm } from './markup.ts'
import type { ResolvedPageOptions } from './page-options.ts'
import { pageStyle } from './page-style.ts'

/** A page without the document around it. */
export interface PageContent {
  /** Title of the window, as plain text. */
  readonly title: string
  /** Language of the texts. */
  readonly lang: string
  /** Direction of the texts: `ltr` or `rtl`. */
  readonly dir: string
  /** The content of the page, to be placed in a `<main>`. All inserted values are escaped. */
  readonly html: string
  /** The style sheet for the content. */
  readonly css: string
  /** What each form sends in the field `proof`, to show that the form is from this page. */
  readonly proof: string
  /** The reader's texts. */
  readonly say: Say
}

/** What every page needs: its options, and parts of the service. */
export interface PageParts {
  readonly options: ResolvedPageOptions
  readonly site: { readonly url?: string; readonly title?: string | undefined } | undefined
  readonly textsFor: TextsFor
  readonly logger: Logger
  readonly nonces: Nonces
}

/** The response of a page: a view, a redirect, or JSON. Undefined: the application's code has already responded. */
export type PageAnswer =
  | { readonly view: PageContent; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly to: string; readonly sentence?: string }
  | RestAnswer
  | undefined

/** What one page does, and what is its own. */
export interface PageDefinition {
  /** The method that mounts it, which is also the purpose of the nonces in its forms. */
  readonly name: string
  readonly parts: PageParts
  /** Names of the fields that its forms use themselves. */
  readonly ownFields: readonly string[]
  /** The URLs to which its forms may redirect. */
  readonly targets: readonly string[]
  /** Response headers that only this page has. */
  readonly headers?: Readonly<Record<string, string>>
  /** Answers a request to see the page. */
  view(call: PageCall, response: HostResponse): Promise<PageAnswer>
  /** Does what a form or a script asks for. */
  act(call: PageCall, response: HostResponse): Promise<PageAnswer>
  /** Answers a request that is not valid (`old`), or one that the store could not serve (`away`). */
  fail(call: PageCall, page: 'old' | 'away', error: RestError | SessmgrError): PageContent | RestAnswer
}

/** Whom a form is for. Nobody else can send it. */
type FormSubject = Omit<NonceSubject, 'action'>

/** A request for a page, and what is drawn for it. */
export class PageCall {
  readonly request: HostRequest
  /** The reader's texts. The page's own texts override the site's. */
  readonly texts: ReaderTexts
  readonly say: Say
  /** Path of the page, as requested by the browser. */
  readonly path: string
  readonly #definition: PageDefinition
  readonly #css: string

  constructor(request: HostRequest, definition: PageDefinition, texts: ReaderTexts, css: string) {
    this.request = request
    this.texts = texts
    this.say = texts.say
    this.path = definition.parts.options.path ?? mountPath(request)
    this.#definition = definition
    this.#css = css
  }

  /** Returns what is needed to draw forms for a user. @throws SessmgrError `invalid_option` for invalid hidden fields. */
  async form(subject: FormSubject, action = this.path): Promise<PageForm> {
    const { name, parts } = this.#definition
    const proof = await parts.nonces.create({ ...subject, action: name })
    return { say: this.say, action, proof, fields: await this.#fields() }
  }

  /** Checks that a form is from this page, and was drawn for this user. */
  isFromPage(proof: string | undefined, subject: FormSubject): Promise<boolean> {
    return this.#definition.parts.nonces.verify(proof ?? '', { ...subject, action: this.#definition.name })
  }

  /** Composes a view. */
  compose<Page extends string, Devices>(
    page: Page,
    heading: string,
    content: Markup,
    { action, proof }: Pick<PageForm, 'action' | 'proof'> = { action: this.path, proof: '' },
    devices?: Devices,
  ) {
    const { say } = this
    const { title: site } = this.#definition.parts.site ?? {}
    const title = site === undefined ? heading : `${heading} – ${site}`
    const words = { title, lang: say('lang'), dir: say('dir'), say }
    return { page, ...words, html: content.text, css: this.#css, devices, action, proof }
  }

  async #fields(): Promise<Markup> {
    const { name: page, parts, ownFields } = this.#definition
    const given: unknown = await parts.options.fields?.(this.request)
    const inputs = Object.entries(Object(given ?? {})).map(([name, value]) => {
      if (typeof value !== 'string') throw invalidOption(`"fields" of ${page}() must return a string for "${name}"`)
      if (ownFields.includes(name)) {
        throw invalidOption(`"fields" of ${page}() must not return "${name}", which the page uses`)
      }
      return html`<input type="hidden" name="${name}" value="${value}">`
    })
    return html`${inputs}`
  }
}

/**
 * Creates a page with forms for users. It draws a view for GET, and acts for POST. Requests for any path under its own
 * are passed on.
 */
export function page(definition: PageDefinition) {
  const { name, parts } = definition
  const { options } = parts
  const style = pageStyle(options.styles)
  const policy = policyOf(definition, style.hash)
  const ownTexts = createTextsFor(options.texts, parts.logger)
  const checkOrder = orderWarning(`limiter.${name}()`, parts.logger)
  const textsFor = (request?: unknown) =>
    readerTexts({ ...parts.textsFor(request).replaced, ...ownTexts(request).replaced })
  const callFor = (request: HostRequest) => new PageCall(request, definition, textsFor(request), style.css)

  async function answer(request: HostRequest, response: HostResponse, isRead: boolean): Promise<void> {
    if (isRead) checkOrder(request)
    const call = callFor(request)
    try {
      await send(request, response, await (isRead ? definition.view(call, response) : definition.act(call, response)))
    } catch (given) {
      const error = asUnavailable(given)
      const isAway = error instanceof SessmgrError && error.status === 503
      if (response.headersSent || !(isAway || error instanceof RestError)) throw error
      const failure = definition.fail(call, isAway ? 'away' : 'old', error)
      await send(request, response, failure instanceof RestAnswer ? failure : { view: failure, status: error.status })
    }
  }

  async function send(request: HostRequest, response: HostResponse, given: PageAnswer): Promise<void> {
    if (given === undefined) return
    if (given instanceof RestAnswer) return sendAnswer(response, given)
    if ('to' in given) return redirect(request, response, given.to, given.sentence)
    const { view, status = 200, headers } = given
    const document = await (options.render ? options.render(view) : documentOf(view))
    const all = { ...definition.headers, ...headers, ...(status === 503 && RETRY_SOON) }
    for (const [header, value] of Object.entries(all)) response.setHeader(header, value)
    const isOwnPolicy = options.render && response.hasHeader('Content-Security-Policy')
    if (!isOwnPolicy) response.setHeader('Content-Security-Policy', policy)
    sendPage(request, response, status, document)
  }

  const handler: Handler = (request, response, next) => {
    const { method, url = '/' } = request
    const isPage = (url.split('?', 1)[0] ?? '/').replace('/', '') === ''
    const isRead = method === 'GET' || method === 'HEAD'
    if (!isPage || !(isRead || method === 'POST')) return next()
    // Without an error, Express would go on with the next route.
    const fault = (error: unknown) =>
      next(error ?? new Error('A function of the application rejected without an error.'))
    answerSafely(response, answer(request, response, isRead), fault)
  }

  return { handler, callFor, textsFor: Object.assign(textsFor, { vary: true }) }
}

/** Returns the whole document of a page. */
function documentOf({ title, lang, dir, css, html: content }: PageContent): string {
  return html`${new Markup('<!doctype html>')}<html lang="${lang}" dir="${dir}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex"><title>${title}</title><style>${new Markup(css)}</style></head>
<body><main>${new Markup(content)}</main></body></html>`.text
}

/** Returns the content security policy of a page. An application with its own layout needs its own policy. */
function policyOf({ parts, targets }: PageDefinition, styleHash: string): string {
  const { frameAncestors, render } = parts.options
  const framing = `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`
  if (render) return framing
  // Browsers also apply form-action to the redirect after a form.
  const formAction = ["'self'", ...new Set(targets.flatMap((target) => originOf(target) ?? []))].join(' ')
  return `default-src 'none'; style-src ${styleHash}; img-src 'self'; base-uri 'none'; form-action ${formAction}; ${framing}`
}
