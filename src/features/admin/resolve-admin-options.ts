import { type Declared, isRecord, keysOf, must, type Resolved, resolveDeclared } from '../../ground/option-checks.ts'
import { isAddress, isHelpAddress, isListOf, isOrigin } from '../../routes/page-addresses.ts'

/** Options of the admin screen. Omitted or undefined options use their defaults. */
export interface AdminOptions {
  /** Path where anonymous visitors sign in. The requested page is added as `redirect_to`. @default '/login' */
  loginUrl?: string | undefined
  /**
   * Add-on scripts and style sheets: paths, or http or https URLs. A URL that ends in `.css` is a style sheet.
   * @default none
   */
  scripts?: readonly string[] | undefined
  /** Additional origins from which scripts may load, such as `https://cdn.example`. @default none */
  scriptOrigins?: readonly string[] | undefined
  /** Origins that may show the screen in a frame. @default none */
  frameAncestors?: readonly string[] | undefined
  /** Path where the screen is mounted, for frameworks that do not report it. @default the path in Express */
  path?: string | undefined
  /** Links for the Support tab, for the people who manage this site. @default no links */
  support?: SupportLinks | undefined
}

/** Links to help: paths, http or https URLs, or `mailto:` URLs. */
export interface SupportLinks {
  /** Documentation. */
  readonly docs?: string | undefined
  /** A forum. */
  readonly forum?: string | undefined
  /** A person or team to contact. */
  readonly contact?: string | undefined
}

const helpLink = must('be a path, an http or https URL, or a URL such as "mailto:help@example.com"', isHelpAddress)
const origins = must('be a list of origins such as "https://cdn.example"', (list) => isListOf(list, isOrigin))
const links = keysOf({ docs: helpLink, forum: helpLink, contact: helpLink })

const OPTIONS = {
  loginUrl: [must('be a path such as "/login", or an http or https URL', isAddress), '/login'],
  scripts: [
    must('be a list of paths such as "/add-on.js", or of http or https URLs', (list) => isListOf(list, isAddress)),
    [],
  ],
  scriptOrigins: [origins, []],
  frameAncestors: [origins, []],
  path: [
    must(
      'be a path such as "/admin", without a slash at the end',
      (path) => typeof path === 'string' && /^(\/[^?#]*[^/?#])?$/.test(path),
    ),
  ],
  support: [
    (name, value) => {
      must('be an object such as { docs: "https://example.com/help" }', isRecord)(name, value)
      links(name, value)
    },
    {},
  ],
} as const satisfies Declared<AdminOptions>

export type ResolvedAdminOptions = Resolved<AdminOptions, typeof OPTIONS>

/**
 * Checks the admin screen's options at startup.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveAdminOptions(options: AdminOptions = {}): ResolvedAdminOptions {
  return resolveDeclared(OPTIONS, options, { caller: 'admin' })
}
