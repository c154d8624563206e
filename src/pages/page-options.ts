import { invalidOption } from '../ground/invalid-option.ts'
import { requireKnown, requireObject } from '../ground/option-checks.ts'
import { isAddress, isListOf, isOrigin } from '../routes/page-addresses.ts'

/** Colors of the pages, which are custom properties of their style sheet. */
const COLORS = [
  'page',
  'card',
  'line',
  'edge',
  'text',
  'muted',
  'accent',
  'on-accent',
  'soft',
  'danger',
  'good',
  'good-soft',
  'warn',
  'warn-soft',
]

/** Options that all pages for users have. */
export interface PageOptions {
  readonly styles: Readonly<Record<string, string>>
  readonly frameAncestors: readonly string[]
  readonly render?: unknown
}

/** Checks the options that all pages have. @throws SessmgrError `invalid_option` that names the option. */
export function checkPageOptions({ styles, frameAncestors, render }: PageOptions): void {
  if (render !== undefined) requireFunction('render', render)
  requireObject('"styles"', styles)
  requireKnown(styles, COLORS, (name) => `"styles" has no color "${name}"`)
  for (const [name, value] of Object.entries(styles)) {
    if (!/^[\w\s#%(),./+-]+$/.test(value)) {
      throw invalidOption(`"styles.${name}" must be a color such as "#3a4fc4"`)
    }
  }
  if (!isListOf(frameAncestors, isOrigin)) {
    throw invalidOption('"frameAncestors" must be a list of origins such as "https://cdn.example"')
  }
}

/** Checks an option that is a function. @throws SessmgrError `invalid_option`. */
export function requireFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidOption(`"${name}" must be a function`)
}

/** Checks options that are paths or URLs, unless they are undefined. @throws SessmgrError `invalid_option`. */
export function requireAddresses(addresses: Readonly<Record<string, unknown>>): void {
  for (const [name, address] of Object.entries(addresses)) {
    if (address !== undefined && !isAddress(address))
      throw invalidOption(`"${name}" must be a path or an http or https URL`)
  }
}
