import { isStyleSheet } from '../../routes/page-addresses.ts'
import { MOST_SESSIONS } from '../../sessions/session-registry.ts'
import { SCREEN_PREFIX } from '../../texts/english.ts'
import { htmlText, type ReaderTexts } from '../../texts/texts-for.ts'
import type { AdminEntry } from './admin-assets.ts'
import type { SupportLinks } from './resolve-admin-options.ts'
import { type ScreenUser, type ShownTabs, tabsFor } from './screen-tabs.ts'

const SCREEN_ID = 'users_page_sessmgr'

/** Icon of the page. Without one, browsers would request favicon.ico from the application. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#fff" stroke-width="1.75" ' +
    'stroke-linecap="round" stroke-linejoin="round"><rect width="24" height="24" rx="6" fill="#3a4fc4" stroke="none"/>' +
    '<path d="M12 4.5 6.5 7v4.2c0 3.7 2.3 6.9 5.5 8 3.2-1.1 5.5-4.3 5.5-8V7L12 4.5Zm-2.2 7.4 1.6 1.6 3-3.2"/></svg>',
)}`

/** The data of the page. */
interface PageParts extends ShownTabs {
  /** Path where the screen is mounted. */
  readonly base: string
  /** Key of the open tab. */
  readonly tab: string
  readonly vars: Readonly<Record<string, unknown>>
  readonly texts: ReaderTexts
  /** Whether the signed-in users can be listed. */
  readonly hasDirectory: boolean
  /** The user who sees the screen. */
  readonly user: ScreenUser
  /** URL of the site, for a link back to it. */
  readonly siteUrl: string | undefined
  readonly entry: AdminEntry
  /** Nonce of the scripts that the content security policy allows. */
  readonly nonce: string
  readonly nonceHeader: string
  /** Add-on scripts and style sheets, in the order in which they run. */
  readonly scripts: readonly string[]
  readonly support: SupportLinks
  /** Whether the application can search for users. */
  readonly canSearch: boolean
  /** Milliseconds between two updates of a session's last use. Short sessions are updated more often. */
  readonly touchEveryMs: number
  /** Files of the screen that the open tab needs first. */
  readonly parts: readonly string[]
  /** REST routes that the open tab reads first. */
  readonly calls: readonly string[]
}

/** After this time, the page says that the screen's script is missing. */
const SCRIPT_TIMEOUT_MS = 10_000

/** After this time, the screen stops waiting for the page's call to a route, and calls the route itself. */
const CALL_TIMEOUT_MS = 20_000

/**
 * Returns the admin screen's page. Add-on scripts run after the screen's own, once `window.sessmgr` is complete.
 */
export function adminPage(parts: PageParts): string {
  const { base, entry, nonce, nonceHeader, vars, scripts, texts, support, hasDirectory, canSearch, only } = parts
  const attribute = ` nonce="${nonce}"`
  const own = (name: string) => `${base}/assets/${name}`
  const style = (url: string) => `<link rel="stylesheet" href="${htmlText(url)}">`
  const script = (url: string) => `<script type="module" src="${htmlText(url)}"${attribute}></script>`
  return html(
    texts,
    [
      // Inline scripts come first, because a script waits for the style sheets before it.
      `<script${attribute}>window.sessmgr=${scriptText(vars)}</script>`,
      `<script${attribute}>${firstCalls(parts)}</script>`,
      `<script${attribute}>${missingFiles(own(entry.script), texts)}</script>`,
      ...entry.styles.map((name) => style(own(name))),
      ...scripts.filter(isStyleSheet).map(style),
      ...entry.modules.map((name) => `<link rel="modulepreload" href="${htmlText(own(name))}"${attribute}>`),
      ...screenTexts(texts),
      script(own(entry.script)),
      ...scripts.filter((url) => !isStyleSheet(url)).map(script),
    ],
    `<div id="sessmgr-admin" data-nonce-header="${htmlText(nonceHeader)}" ` +
      `data-tabs="${htmlText(JSON.stringify(tabsFor(parts)))}" data-part="${parts.parts[0] ?? ''}" ` +
      `data-support="${htmlText(JSON.stringify(support))}"${only ? ` data-only="${only}"` : ''} ` +
      `data-now="${Date.now()}" data-touch="${parts.touchEveryMs}" data-most="${MOST_SESSIONS}"${hasDirectory ? ' data-directory' : ''}${canSearch ? ' data-search' : ''} ` +
      `data-user="${htmlText(JSON.stringify(parts.user))}" data-site="${htmlText(parts.siteUrl ?? '')}">${adminFrame(parts)}</div>` +
      `<noscript><main class="plain"><h1>${htmlText(texts.say('page_no_script'))}</h1>` +
      `<p>${htmlText(texts.say('page_no_script_help'))}</p></main></noscript>`,
  )
}

/** Returns the page for a signed-in user who may not manage the site. */
export function forbiddenPage({
  base,
  entry,
  loginUrl,
  texts,
}: Pick<PageParts, 'base' | 'entry' | 'texts'> & { loginUrl: string }): string {
  return plainPage(
    { base, entry, texts },
    `<h1>${htmlText(texts.say('page_forbidden'))}</h1>` +
      `<p>${htmlText(texts.say('page_forbidden_help'))}</p>` +
      `<p><a href="${htmlText(loginUrl)}">${htmlText(texts.say('page_forbidden_sign_in'))}</a></p>`,
  )
}

/** Returns the page shown after a login in a second tab. */
export function signedInPage({ base, entry, texts }: Pick<PageParts, 'base' | 'entry' | 'texts'>): string {
  return plainPage({ base, entry, texts }, `<h1>${htmlText(texts.say('page_signed_in'))}</h1>`)
}

function plainPage({ base, entry, texts }: Pick<PageParts, 'base' | 'entry' | 'texts'>, body: string): string {
  const styles = entry.styles.map((name) => `<link rel="stylesheet" href="${htmlText(`${base}/assets/${name}`)}">`)
  return html(texts, styles, `<main class="plain">${body}</main>`)
}

function html({ say }: ReaderTexts, head: readonly string[], body: string): string {
  return (
    `<!doctype html><html lang="${htmlText(say('lang'))}" dir="${htmlText(say('dir'))}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    '<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">' +
    `<link rel="icon" href="${ICON}">` +
    `<title>${htmlText(say('product_name'))}</title>${head.join('')}</head><body id="${SCREEN_ID}">${body}</body></html>`
  )
}

/** Returns the replaced texts of the screen as a data block, which every content security policy allows. */
function screenTexts({ replaced }: ReaderTexts): string[] {
  const own = Object.entries(replaced).filter(([key]) => key.startsWith(SCREEN_PREFIX))
  if (own.length === 0) return []
  const texts = Object.fromEntries(own.map(([key, text]) => [key.slice(SCREEN_PREFIX.length), text]))
  return [`<script type="application/json" id="sessmgr-texts">${scriptText(texts)}</script>`]
}

/** Returns the code that starts the tab's REST calls. The screen reads the responses from `window.sessmgr.first`. */
function firstCalls({ calls, nonceHeader }: PageParts): string {
  return (
    `Object.defineProperty(sessmgr,'first',{value:new Map(${scriptText(calls)}.map((path)=>[path,` +
    `fetch(sessmgr.restUrl+path,{headers:{Accept:'application/json',${scriptText(nonceHeader)}:sessmgr.restNonce},` +
    `cache:'no-store',signal:AbortSignal.timeout(${CALL_TIMEOUT_MS})}).catch(()=>undefined)]))});` +
    // On a slow device, the first use of Intl is slow, so do it after the first paint, while the script is loading.
    `requestAnimationFrame(()=>setTimeout(()=>new Intl.NumberFormat().format(0)))`
  )
}

/**
 * Returns the code that replaces the outline with an error message if the screen's script does not load, or does not
 * run in time. The code does nothing once the screen has removed the outline.
 */
function missingFiles(url: string, { say }: ReaderTexts): string {
  return (
    `{const tell=()=>{const outline=document.getElementById('sessmgr-outline'),panel=document.createElement('p');` +
    `panel.className='panel';panel.textContent=${scriptText(say('admin_files_missing', { url }))};` +
    `outline?.replaceChildren(panel)};setTimeout(tell,${SCRIPT_TIMEOUT_MS});` +
    // Load errors do not bubble, so capture them. A module also fails if one of its imports is missing.
    `addEventListener('error',({target})=>{if(target.src&&target.getAttribute('src')===${scriptText(url)})tell()},true)}`
  )
}

/** Serializes a value as JSON that cannot end the script element that contains it. */
function scriptText(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}

/** Returns the header and the outline of the content, which are visible until the script renders the screen. */
function adminFrame(parts: PageParts): string {
  const { base, tab, vars, texts } = parts
  const tabs = tabsFor(parts)
  const links = tabs.flatMap(({ key, isIdle }) => {
    if (isIdle) return []
    const current = key === tab ? ' aria-current="page"' : ''
    return `<a href="${htmlText(`${base}/${key}`)}"${current}>${htmlText(texts.say(`admin_tab_${key}`))}</a>`
  })
  const isWide = tabs.some((one) => one.key === tab && one.wide)
  return (
    `<header class="top"><h1><span class="brand-mark"></span><span class="brand-name">${htmlText(String(vars.name ?? ''))}</span></h1>` +
    `<nav class="tabs" aria-label="${htmlText(texts.say('admin_nav'))}">${links.join('')}</nav>${whoAndBack(parts)}</header>` +
    `<main class="column${isWide ? ' wide' : ''}"><div class="stack" id="sessmgr-outline" role="status">` +
    `<span class="unseen">${htmlText(texts.say('admin_loading'))}</span>${OUTLINE}</div></main>`
  )
}

/** The outline of the content. The script renders the same one while something loads. */
const OUTLINE =
  '<div class="panel skeleton" aria-hidden="true"><span class="bone wide"></span><span class="bone"></span>' +
  '<span class="bone field-bone"></span></div>'

function whoAndBack({ user, siteUrl, texts }: PageParts): string {
  const text = `<span class="back-mark arrow" aria-hidden="true">←</span><span>${htmlText(texts.say('admin_back_to_site'))}</span>`
  const back = siteUrl && `<a href="${htmlText(siteUrl)}">${text}</a>`
  return `<p class="who"><bdi>${htmlText(user.name)}</bdi>${back ?? ''}</p>`
}
