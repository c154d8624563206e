import { invalidOption } from '../../ground/invalid-option.ts'
import { requireKnown, requireObject, requireOptions, requireWhole } from '../../ground/option-checks.ts'
import { checkPageOptions, requireAddresses, requireFunction } from '../../pages/page-options.ts'
import { isAddress } from '../../routes/page-addresses.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { TextsOption } from '../../texts/texts-for.ts'
import type { AccountView } from './account-view.ts'

/**
 * How users prove their identity before they end sessions. Set exactly one option. The list itself is always shown
 * without a proof.
 *
 * Whichever option is set, `limiter.reauthenticated(request)` counts as a proof for ten minutes.
 */
export interface StepUpOptions {
  /**
   * How many seconds after the login a session may end others, from 60 to 86,400. After that, users have to sign in
   * again.
   */
  readonly freshFor?: number | undefined
  /** Checks the user's password, which the page then asks for. Only `true` counts as yes. */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
  readonly verify?: ((request: any, password: string) => boolean | Promise<boolean>) | undefined
  /** URL of your own page, which asks for a proof and then calls `limiter.reauthenticated(request)`. */
  readonly url?: string | undefined
}

/** What the page shows about a session, besides its device and its times. */
export interface ShowOptions {
  /** Whether to show the address. @default false */
  readonly ip?: boolean | undefined
  /** Returns the location of a session, such as "Berlin". The page waits for the result for at most a second. */
  readonly location?:
    | ((session: SessionRecord) => string | null | undefined | Promise<string | null | undefined>)
    | undefined
}

/** Options of the account page. Omitted and undefined options have their defaults. */
export interface AccountOptions {
  /** Which proof to ask for before a session is ended. @default nothing */
  stepUp?: StepUpOptions | undefined
  /** Path where anonymous visitors sign in. The page is added as `redirect_to`. @default '/login' */
  loginUrl?: string | undefined
  /** Path where users sign out on this device. @default no link */
  logoutUrl?: string | undefined
  /** What else to show about a session. @default neither address nor location */
  show?: ShowOptions | undefined
  /** Texts of this page. They override the option `texts` of sessmgr(). @default no overrides */
  texts?: TextsOption | undefined
  /** Returns the page with `view.html` in your own layout. You must then set the content security policy yourself. */
  render?: ((view: AccountView) => string | Promise<string>) | undefined
  /** Colors, by the names of the page's custom properties, such as `{ accent: '#0a5' }`. @default sessmgr's colors */
  styles?: Readonly<Record<string, string>> | undefined
  /** Origins that may show the page in a frame. @default none */
  frameAncestors?: readonly string[] | undefined
  /** Path where the page is mounted, for `limiter.accountView()`. @default the path of the request */
  path?: string | undefined
}

export interface ResolvedAccountOptions
  extends Pick<AccountOptions, 'logoutUrl' | 'texts' | 'render' | 'path' | 'stepUp'> {
  readonly loginUrl: string
  readonly show: ShowOptions
  readonly styles: Readonly<Record<string, string>>
  readonly frameAncestors: readonly string[]
}

const OPTIONS = [
  'stepUp',
  'loginUrl',
  'logoutUrl',
  'show',
  'texts',
  'render',
  'styles',
  'frameAncestors',
  'path',
] as const satisfies readonly (keyof AccountOptions)[]

/**
 * Checks the options of the account page at startup.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveAccountOptions(options: AccountOptions = {}): ResolvedAccountOptions {
  requireOptions('account', options, OPTIONS)
  const { loginUrl = '/login', logoutUrl, show = {}, styles = {}, frameAncestors = [], path, render } = options
  requireAddresses({ loginUrl, logoutUrl })
  requireObject('"show"', show)
  requireKnown(show, ['ip', 'location'], (name) => `"show" has no key "${name}"`)
  if (show.location !== undefined) requireFunction('show.location', show.location)
  checkPageOptions({ styles, frameAncestors, render })
  if (path !== undefined && !(typeof path === 'string' && /^\/[^?#]*[^/?#]$/.test(path))) {
    throw invalidOption('"path" must be a path such as "/account/sessions", without a slash at the end')
  }
  checkStepUp(options.stepUp)
  return { ...options, loginUrl, show, styles, frameAncestors }
}

function checkStepUp(stepUp: StepUpOptions | undefined): void {
  if (stepUp === undefined) return
  requireObject('"stepUp"', stepUp)
  requireKnown(stepUp, ['freshFor', 'verify', 'url'], (name) => `"stepUp" has no key "${name}"`)
  const { freshFor, verify, url } = stepUp
  if ([freshFor, verify, url].filter((way) => way !== undefined).length !== 1) {
    throw invalidOption('"stepUp" must have exactly one of "freshFor", "verify" and "url"')
  }
  if (freshFor !== undefined) requireWhole('stepUp.freshFor', freshFor, 60, 86_400)
  if (verify !== undefined) requireFunction('stepUp.verify', verify)
  if (url !== undefined && !isAddress(url)) throw invalidOption('"stepUp.url" must be a path or an http or https URL')
}
