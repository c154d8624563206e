import { invalidOption } from '../../ground/invalid-option.ts'
import { requireKnown, requireOptions } from '../../ground/option-checks.ts'
import { isAddress, isHelpAddress, isListOf, isOrigin } from '../../routes/page-addresses.ts'

/** Options of the admin screen. Omitted and undefined options have their defaults. */
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

export interface ResolvedAdminOptions {
  readonly loginUrl: string
  readonly scripts: readonly string[]
  readonly scriptOrigins: readonly string[]
  readonly frameAncestors: readonly string[]
  readonly path: string | undefined
  readonly support: SupportLinks
}

const OPTIONS = ['loginUrl', 'scripts', 'scriptOrigins', 'frameAncestors', 'path', 'support'] as const
const LINKS = ['docs', 'forum', 'contact'] as const

/**
 * Checks the admin screen's options at startup.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveAdminOptions(options: AdminOptions = {}): ResolvedAdminOptions {
  requireOptions('admin', options, OPTIONS)
  const { loginUrl = '/login', scripts = [], scriptOrigins = [], frameAncestors = [], path, support = {} } = options
  if (!isAddress(loginUrl)) throw invalidOption('"loginUrl" must be a path such as "/login", or an http or https URL')
  if (!isListOf(scripts, isAddress)) {
    throw invalidOption('"scripts" must be a list of paths such as "/add-on.js", or of http or https URLs')
  }
  for (const [name, list] of Object.entries({ scriptOrigins, frameAncestors })) {
    if (!isListOf(list, isOrigin))
      throw invalidOption(`"${name}" must be a list of origins such as "https://cdn.example"`)
  }
  if (path !== undefined && !(typeof path === 'string' && /^(\/[^?#]*[^/?#])?$/.test(path))) {
    throw invalidOption('"path" must be a path such as "/admin", without a slash at the end')
  }
  checkSupport(support)
  return { loginUrl, scripts, scriptOrigins, frameAncestors, path, support }
}

function checkSupport(support: unknown): void {
  if (typeof support !== 'object' || support === null) {
    throw invalidOption('"support" must be an object such as { docs: "https://example.com/help" }')
  }
  requireKnown(support, LINKS, (name) => `"support" has no key "${name}"`)
  for (const [name, address] of Object.entries(support)) {
    if (address !== undefined && !isHelpAddress(address)) {
      throw invalidOption(
        `"support.${name}" must be a path, an http or https URL, or a URL such as "mailto:help@example.com"`,
      )
    }
  }
}
