import { anything, callable, keysOf, must, type Resolved } from '../ground/option-checks.ts'
import { isAddress, isListOf, isOrigin } from '../routes/page-addresses.ts'
import type { TextsOption } from '../texts/texts-for.ts'

/** Returns hidden fields for the forms of a page, such as the token of your CSRF middleware. */
// biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
export type FormFields = (request: any) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>

/** Options of every page. */
export interface PageOptions<View> {
  /** Hidden fields for the forms, such as the token of your CSRF middleware. @default none */
  fields?: FormFields | undefined
  /** Texts of this page. They override the option `texts` of sessmgr(). @default no overrides */
  texts?: TextsOption | undefined
  /** Returns the page with `view.html` in your own layout. You must then set the content security policy yourself. */
  render?: ((view: View) => string | Promise<string>) | undefined
  /** Colors, by the names of the page's custom properties, such as `{ accent: '#0a5' }`. @default sessmgr's colors */
  styles?: Readonly<Record<string, string>> | undefined
  /** Origins that may show the page in a frame. @default none */
  frameAncestors?: readonly string[] | undefined
}

/** Colors of the pages, which are custom properties of their style sheet. */
const COLORS = 'page card line edge text muted accent on-accent soft danger good good-soft warn warn-soft'.split(' ')

const color = must('be a color such as "#3a4fc4"', (value) => /^[\w\s#%(),./+-]+$/.test(String(value)))

/** Requires a path or a URL. */
export const address = must('be a path or an http or https URL', isAddress)

/** The options of every page. */
export const PAGE_OPTIONS = {
  loginUrl: [address, '/login'],
  fields: [callable()],
  texts: [anything],
  render: [callable()],
  styles: [keysOf(Object.fromEntries(COLORS.map((name) => [name, color])), 'color'), {}],
  frameAncestors: [must('be a list of origins such as "https://cdn.example"', (list) => isListOf(list, isOrigin)), []],
} as const

/** The values of these options, and the path of a page that has one. */
// biome-ignore lint/suspicious/noExplicitAny: each page has a view of its own.
export type ResolvedPageOptions = Resolved<PageOptions<any>, typeof PAGE_OPTIONS> & {
  readonly loginUrl: string
  readonly path?: string | undefined
}
