import { createHash } from 'node:crypto'
import type { NonceSubject, Nonces } from '../../auth/nonce.ts'
import type { Handler, HostResponse, RoutedRequest } from '../../door/host-types.ts'
import { ownRequestOf } from '../../door/request/visit.ts'
import { asUnavailable } from '../../door/stores/store-error.ts'
import { RETRY_SOON, SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { Logger } from '../../ground/logger.ts'
import { orderWarning } from '../../middleware/visit.ts'
import { answerSafely, RestAnswer, RestError, redirect, sendAnswer, sendPage } from '../../routes/answer.ts'
import { mountPath, originOf } from '../../routes/page-addresses.ts'
import { createTextsFor, type ReaderTexts, readerTexts, type Say, type TextsFor } from '../../texts/texts-for.ts'
import { html, Markup, type PageForm } from './markup.ts'
import type { ResolvedPageOptions } from './page-options.ts'
import type { PageContent } from './page-views.ts'

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

/** The parts of a page that differ from page to page. */
export interface PageDefinition {
  /** Name of the method that mounts the page, which is also the action of the nonces in the page's forms. */
  readonly name: string
  readonly parts: PageParts
  /** Path of the page, as requested by the browser. @default the path where it is mounted */
  readonly path: string | undefined
  /** Names of the fields that the page's forms use themselves. */
  readonly ownFields: readonly string[]
  /** The URLs to which the page's forms may redirect. */
  readonly targets: readonly string[]
  /** Response headers that only this page has. */
  readonly headers?: Readonly<Record<string, string>>
  /** Responds to GET: shows the page. */
  view(call: PageCall, response: HostResponse): Promise<PageAnswer>
  /** Responds to POST: does what a form or a script requests. */
  act(call: PageCall, response: HostResponse): Promise<PageAnswer>
  /** Responds to a request that is not valid (`old`), or one that the store could not serve (`away`). */
  fail(call: PageCall, page: 'old' | 'away', error: RestError | SessmgrError): PageContent | RestAnswer
}

/** Whom a form is for: a user, and their session or pending login. No one else can send the form. */
type FormSubject = Omit<NonceSubject, 'action'>

/** A request for a page, and what is needed to draw the response. */
export class PageCall {
  readonly request: RoutedRequest
  /** The reader's texts. The page's own texts override the site's. */
  readonly texts: ReaderTexts
  readonly say: Say
  /** Path of the page, as requested by the browser. */
  readonly path: string
  readonly #definition: PageDefinition
  readonly #css: string

  constructor(request: RoutedRequest, definition: PageDefinition, texts: ReaderTexts, css: string) {
    this.request = request
    this.texts = texts
    this.say = texts.say
    this.path = definition.path ?? mountPath(request)
    this.#definition = definition
    this.#css = css
  }

  /**
   * Returns what is needed to draw forms for a user.
   *
   * @throws SessmgrError `invalid_option` for invalid hidden fields.
   */
  async form(subject: FormSubject, action = this.path): Promise<PageForm> {
    const { name, parts } = this.#definition
    const proof = await parts.nonces.create({ ...subject, action: name })
    return { say: this.say, action, proof, fields: await this.#fields() }
  }

  /**
   * Checks that a form is from this page, and was drawn for this user.
   *
   * @throws RestError 403, for which `fail` draws the page.
   */
  async requireFromPage(proof: string | undefined, subject: FormSubject): Promise<void> {
    const { name, parts } = this.#definition
    if (await parts.nonces.verify(proof ?? '', { ...subject, action: name })) return
    throw new RestError(403, 'rest_cookie_invalid_nonce', 'The nonce is invalid or has expired. Reload the page.')
  }

  /** Creates the view of a page from its content. */
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
    const given: unknown = await parts.options.fields?.(ownRequestOf(this.request))
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
 * Creates a page with forms for users. Passes on requests for paths below its own.
 */
export function page(definition: PageDefinition) {
  const { name, parts } = definition
  const { options } = parts
  const style = pageStyle(options.styles)
  const policy = policyOf(definition, style.hash)
  const ownTexts = createTextsFor(options.texts, parts.logger)
  const checkOrder = orderWarning(`limiter.${name}()`, parts.logger)
  const textsFor = (request?: object) =>
    readerTexts({ ...parts.textsFor(request).replaced, ...ownTexts(ownRequestOf(request)).replaced })
  const callFor = (request: RoutedRequest) => new PageCall(request, definition, textsFor(request), style.css)

  async function answer(request: RoutedRequest, response: HostResponse, isRead: boolean): Promise<void> {
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

  async function send(request: RoutedRequest, response: HostResponse, given: PageAnswer): Promise<void> {
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
    // If `next` got no error, Express would continue with the next route.
    const fault = (error: unknown) => next(error ?? new Error('An application function rejected without an error.'))
    answerSafely(response, answer(request, response, isRead), fault)
  }

  return { handler, callFor, textsFor }
}

/** Returns the whole document of a page. */
function documentOf({ title, lang, dir, css, html: content }: PageContent): string {
  return html`${new Markup('<!doctype html>')}<html lang="${lang}" dir="${dir}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex"><title>${title}</title><style>${new Markup(css)}</style></head>
<body><main>${new Markup(content)}</main><script>${new Markup(LOCAL_TIMES)}</script></body></html>`.text
}

/** Shows exact times in the reader's time zone, which only the browser knows. The server sends UTC. */
const LOCAL_TIMES = `try{const local=new Intl.DateTimeFormat(document.documentElement.lang.replace(/^en$/,'en-GB'),{dateStyle:'medium',timeStyle:'long'})
for(const time of document.querySelectorAll('time')){const at=local.format(new Date(time.dateTime))
time.title=at
time.textContent=time.textContent.replace(/^.*UTC/,()=>at)}}catch{}`

/** Returns the content security policy of a page. With `render`, the application has to add a policy for its layout. */
function policyOf({ parts, targets }: PageDefinition, styleHash: string): string {
  const { frameAncestors, render } = parts.options
  const framing = `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`
  if (render) return framing
  // Browsers also apply form-action to the redirect after a form.
  const formAction = ["'self'", ...new Set(targets.flatMap((target) => originOf(target) ?? []))].join(' ')
  return `default-src 'none'; style-src ${styleHash}; script-src ${hashOf(LOCAL_TIMES)}; img-src 'self'; base-uri 'none'; form-action ${formAction}; ${framing}`
}

const COLORS = `:root{color-scheme:light dark;
--page:light-dark(#f5f6f8,#12151b);--card:light-dark(#fff,#1a1e26);--line:light-dark(#e0e4ea,#2c333f);--edge:light-dark(#868f9d,#6f7a8b);
--text:light-dark(#1b2230,#e8ebf0);--muted:light-dark(#566072,#a3adbd);--accent:light-dark(#3a4fc4,#a5b4ff);--on-accent:light-dark(#fff,#12162b);--soft:light-dark(#eef0ff,#262c4a);
--danger:light-dark(#b3261e,#ffa59c);--good:light-dark(#146c43,#7fd6a8);--good-soft:light-dark(#e4f5ec,#16322a);--warn:light-dark(#7a4b00,#f2c66d);--warn-soft:light-dark(#fff4dd,#352a16)}
`

const RULES = `*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main{max-inline-size:40rem;margin-inline:auto;padding:1.5rem 1rem 4rem;display:grid;gap:1.5rem}
h1,h2,h3,p,ul,fieldset{margin:0;padding:0;border:0}
h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.012em}
h2{font-size:.8125rem;font-weight:600;color:var(--muted);margin-block-end:.5rem}
h3{font-size:1rem;font-weight:600}
ul{list-style:none}
a{color:var(--accent);text-underline-offset:.2em}
nav a{display:inline-flex;align-items:center;gap:.375rem;min-block-size:2.75rem}
[dir=rtl] nav svg{transform:scaleX(-1)}
.lead,.meta,.foot{color:var(--muted);font-size:.9375rem}
.lead{margin-block-start:.25rem}
.list{background:var(--card);border:1px solid var(--line);border-radius:.875rem}
.row{display:grid;grid-template-columns:2.5rem minmax(0,1fr) auto;gap:.25rem .875rem;align-items:center;padding:1rem 1.125rem}
.row+.row{border-block-start:1px solid var(--line)}
.icon{inline-size:2.5rem;block-size:2.5rem;border-radius:.75rem;background:var(--soft);color:var(--accent);display:grid;place-items:center}
svg{inline-size:1.25rem;block-size:1.25rem;fill:none;stroke:currentcolor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round;flex:none}
.tag{display:inline-block;padding:.0625rem .5rem;border-radius:1rem;background:var(--good-soft);color:var(--good);font-size:.75rem;font-weight:600;vertical-align:.0625rem}
.tag.next{background:var(--warn-soft);color:var(--warn)}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-block-size:2.75rem;padding:.5rem 1rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--card);color:var(--text);font:inherit;font-size:.9375rem;font-weight:550;text-decoration:none;cursor:pointer}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.danger{border-color:var(--danger);color:var(--danger)}
:is(button,.button):hover{filter:brightness(.97)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
h1:focus,.note:focus{outline:none}
.note{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.25rem .75rem;padding:1rem 1.125rem;border-radius:.75rem;background:var(--warn-soft);border-inline-start:4px solid var(--warn)}
.note svg{margin-block-start:.125rem;color:var(--warn)}
.note.done{background:var(--good-soft);border-color:var(--good)}.note.done svg{color:var(--good)}
.note strong{display:block}
.actions{display:flex;flex-wrap:wrap;gap:.5rem .75rem}
.field{display:grid;gap:.375rem}.field input{min-block-size:2.75rem;padding:.5rem .75rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--card);color:inherit;font:inherit;inline-size:100%}
.field [aria-invalid]{border-color:var(--danger)}.error{color:var(--danger)}
.stack{display:grid;gap:1rem}.panel{padding:1.125rem}
.print{display:none}
.pick{display:grid;grid-template-columns:1.5rem 2.5rem minmax(0,1fr);gap:.25rem .875rem;align-items:center;padding:1rem 1.125rem;cursor:pointer}
.pick+.pick,details>.pick{border-block-start:1px solid var(--line)}
.pick:has(:checked){background:var(--soft)}.pick:has(:checked) .icon{background:var(--card)}
.pick:first-child{border-start-start-radius:.875rem;border-start-end-radius:.875rem}.list>.pick:last-child{border-end-start-radius:.875rem;border-end-end-radius:.875rem}
.pick:has(:focus-visible){outline:3px solid var(--accent);outline-offset:-3px;border-radius:.875rem}
.pick input{inline-size:1.375rem;block-size:1.375rem;margin:0;accent-color:var(--accent)}
.pick input:focus-visible{outline:0}
.pick strong{font-weight:600}.pick .meta{display:block}
summary{cursor:pointer;padding:.75rem 1.125rem;border-block-start:1px solid var(--line);color:var(--accent);font-size:.9375rem}
.choices{display:grid;gap:.75rem}
.unseen{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (width<30rem){.row>form,.row>.button{grid-column:1/-1;margin-block-start:.5rem}.row>form>button,.row>.button{inline-size:100%}.actions>*,.actions button{flex:1 1 100%}}
@media (forced-colors:active){.icon,.tag,.note{border:1px solid}.pick:has(:checked){outline:2px solid Highlight;outline-offset:-2px}}
@media print{nav,button,.button,form{display:none}.print{display:block}}`

/** A style sheet, and the hash by which a content security policy allows it. */
interface PageStyle {
  readonly css: string
  readonly hash: string
}

/** Returns the style of the pages. `colors` override its custom properties. */
export function pageStyle(colors: Readonly<Record<string, string>>): PageStyle {
  const own = Object.entries(colors).map(([name, color]) => `--${name}:${color}`)
  const css = COLORS + RULES + (own.length > 0 ? `\n:root{${own.join(';')}}` : '')
  return { css, hash: hashOf(css) }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
