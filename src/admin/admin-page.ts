import { htmlText } from '../comments/html-text.ts'
import type { AdminEntry } from './admin-assets.ts'
import { isStyleSheet } from './page-addresses.ts'
import { PRODUCT_NAME } from './script-vars.ts'

/** Id of the screen. */
const SCREEN_ID = 'users_page_sessmgr'

/** What the page is made from. */
export interface PageParts {
  /** Path where the screen is mounted. */
  readonly base: string
  readonly entry: AdminEntry
  /** Marks the scripts for the content security policy. */
  readonly nonce: string
  readonly nonceHeader: string
  readonly vars: Readonly<Record<string, unknown>>
  /** Scripts and style sheets of add-ons, in the order in which they run. */
  readonly scripts: readonly string[]
}

/** Makes the page of the admin screen. The add-ons' scripts run after the screen's own, when `window.sessmgr` is complete. */
export function adminPage({ base, entry, nonce, nonceHeader, vars, scripts }: PageParts): string {
  const attribute = ` nonce="${nonce}"`
  const own = (name: string) => `${base}/assets/${name}`
  const style = (url: string) => `<link rel="stylesheet" href="${htmlText(url)}">`
  const script = (url: string) => `<script type="module" src="${htmlText(url)}"${attribute}></script>`
  return html(
    [
      ...entry.styles.map((name) => style(own(name))),
      ...scripts.filter(isStyleSheet).map(style),
      ...entry.modules.map((name) => `<link rel="modulepreload" href="${htmlText(own(name))}"${attribute}>`),
      `<script${attribute}>window.sessmgr=${scriptText(vars)}</script>`,
      script(own(entry.script)),
      ...scripts.filter((url) => !isStyleSheet(url)).map(script),
    ],
    `<div id="sessmgr-admin" data-nonce-header="${htmlText(nonceHeader)}"></div>` +
      '<noscript><main class="plain"><h1>This page needs JavaScript</h1>' +
      '<p>Switch JavaScript on in your browser and load the page again.</p></main></noscript>',
  )
}

/** Makes the page for somebody who is signed in and may not manage the site. */
export function forbiddenPage({
  base,
  entry,
  loginUrl,
}: Pick<PageParts, 'base' | 'entry'> & { loginUrl: string }): string {
  return html(
    entry.styles.map((name) => `<link rel="stylesheet" href="${htmlText(`${base}/assets/${name}`)}">`),
    '<main class="plain"><h1>You may not open this page</h1>' +
      '<p>Your account is not allowed to manage this site. Ask an administrator, or sign in with another account.</p>' +
      `<p><a href="${htmlText(loginUrl)}">Sign in with another account</a></p></main>`,
  )
}

function html(head: readonly string[], body: string): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    '<meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">' +
    `<title>${PRODUCT_NAME}</title>${head.join('')}</head><body id="${SCREEN_ID}">${body}</body></html>`
  )
}

/** Writes a value into a script: as JSON in which nothing can end the script. */
function scriptText(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
}
