import { invalidOption } from '../../ground/invalid-option.ts'
import { requireKnown, requireObject, requireWhole } from '../../ground/option-checks.ts'
import { isAddress, isListOf, isOrigin } from '../../routes/page-addresses.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { TextsOption } from '../../texts/texts-for.ts'
import type { AccountView } from './account-view.ts'

/**
 * How people prove that it is them before they end sessions: one of three ways. The list itself never needs it.
 *
 * `limiter.reauthenticated(request)` counts for each of them, and lasts ten minutes.
 */
export interface StepUpOptions {
  /** Seconds since the login of the session: 60 to 86,400. After that, people sign in again. */
  readonly freshFor?: number | undefined
  /** Checks the user's password, which the page asks for. Only `true` counts as yes. */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
  readonly verify?: ((request: any, password: string) => boolean | Promise<boolean>) | undefined
  /** Page of your application that asks for a proof, and then calls `limiter.reauthenticated(request)`. */
  readonly url?: string | undefined
}

/** What the page shows of a session, except its device and its times. */
export interface ShowOptions {
  /** Whether to show the address. @default false */
  readonly ip?: boolean | undefined
  /** Returns a place such as "Berlin" for a session. The page waits for it at most a second. */
  readonly location?:
    | ((session: SessionRecord) => string | null | undefined | Promise<string | null | undefined>)
    | undefined
}

/** Options of the account page. An omitted or undefined option has its default. */
export interface AccountOptions {
  /** What to ask for before a session is ended. @default nothing */
  stepUp?: StepUpOptions | undefined
  /** Path where anonymous visitors sign in. `redirect_to` is added, with the page. @default '/login' */
  loginUrl?: string | undefined
  /** Path where users sign out on this device. @default no link */
  logoutUrl?: string | undefined
  /** What else to show of a session. @default neither address nor place */
  show?: ShowOptions | undefined
  /** Texts of this page that replace those of the option `texts` of sessmgr(). @default those */
  texts?: TextsOption | undefined
  /** Returns the page, with `view.html` in a layout of your own. Set the content security policy yourself then. */
  render?: ((view: AccountView) => string | Promise<string>) | undefined
  /** Colours by the names of the page's custom properties, such as `{ accent: '#0a5' }`. @default those of sessmgr */
  styles?: Readonly<Record<string, string>> | undefined
  /** Origins that may show the page in a frame. @default none */
  frameAncestors?: readonly string[] | undefined
  /** Path where the page is mounted, for `limiter.accountView()`. @default the path of the request */
  path?: string | undefined
}

/** The resolved options. */
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
 * @throws SessmgrError `invalid_option` with the option.
 */
export function resolveAccountOptions(options: AccountOptions = {}): ResolvedAccountOptions {
  requireObject('The options of account()', options)
  requireKnown(options, OPTIONS, (name) => `account() has no option "${name}"`)
  const { loginUrl = '/login', logoutUrl, show = {}, styles = {}, frameAncestors = [], path, render } = options
  for (const [name, address] of Object.entries({ loginUrl, logoutUrl })) {
    if (address !== undefined && !isAddress(address)) throw invalidOption(`"${name}" must be a path or an http address`)
  }
  requireObject('"show"', show)
  requireKnown(show, ['ip', 'location'], (name) => `"show" has no key "${name}"`)
  if (show.location !== undefined) requireFunction('show.location', show.location)
  if (render !== undefined) requireFunction('render', render)
  requireObject('"styles"', styles)
  for (const [name, value] of Object.entries(styles)) {
    if (!/^[a-z-]+$/.test(name) || !/^[\w\s#%(),./+-]+$/.test(value)) {
      throw invalidOption(`"styles.${name}" must be a colour such as "#3a4fc4"`)
    }
  }
  if (!isListOf(frameAncestors, isOrigin)) {
    throw invalidOption('"frameAncestors" must be a list of origins such as "https://cdn.example"')
  }
  if (path !== undefined && !(typeof path === 'string' && /^\/[^?#]*[^/?#]$/.test(path))) {
    throw invalidOption('"path" must be a path such as "/account/sessions", without a slash at its end')
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
  if (url !== undefined && !isAddress(url)) throw invalidOption('"stepUp.url" must be a path or an http address')
}

function requireFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidOption(`"${name}" must be a function`)
}
