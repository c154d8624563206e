import { originOf } from '../routes/page-addresses.ts'
import { html, Markup } from './markup.ts'
import type { PageStyle } from './page-style.ts'

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
}

/** Returns the whole document of a page. */
export function pageDocument({ title, lang, dir, css, html: content }: PageContent): string {
  return html`${new Markup('<!doctype html>')}<html lang="${lang}" dir="${dir}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex"><title>${title}</title><style>${new Markup(css)}</style></head>
<body><main>${new Markup(content)}</main></body></html>`.text
}

/**
 * Returns the content security policy of a page.
 *
 * @param targets The URLs to which its forms may redirect, because browsers also apply form-action to the redirect
 * after a form. Undefined if the application has its own layout, which needs its own policy.
 */
export function pagePolicy(
  style: PageStyle,
  frameAncestors: readonly string[],
  targets: readonly string[] | undefined,
): string {
  const framing = `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`
  if (!targets) return framing
  const origins = targets.flatMap((address) => originOf(address) ?? [])
  const formAction = ["'self'", ...new Set(origins)].join(' ')
  return `default-src 'none'; style-src ${style.hash}; img-src 'self'; base-uri 'none'; form-action ${formAction}; ${framing}`
}
