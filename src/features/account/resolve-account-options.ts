import { invalidOption } from '../../ground/invalid-option.ts'
import {
  anything,
  callable,
  type Declared,
  keysOf,
  must,
  type Resolved,
  resolveDeclared,
  whole,
} from '../../ground/option-checks.ts'
import { checkFrequency, type Frequency } from '../../limiter/reservations.ts'
import { address, PAGE_OPTIONS, type PageOptions } from '../../pages/page-options.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
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
  /** How many passwords a user may try, right or wrong, with `verify`. @default { count: 5, minutes: 10 } */
  readonly attempts?: Frequency | undefined
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
export interface AccountOptions extends PageOptions<AccountView> {
  /** Which proof to ask for before a session is ended. @default nothing */
  stepUp?: StepUpOptions | undefined
  /** Path where anonymous visitors sign in. The page is added as `redirect_to`. @default '/login' */
  loginUrl?: string | undefined
  /** Path where users sign out on this device. @default no link */
  logoutUrl?: string | undefined
  /** What else to show about a session. @default neither address nor location */
  show?: ShowOptions | undefined
  /** Path where the page is mounted, for `limiter.accountView()`. @default the path of the request */
  path?: string | undefined
}

const OPTIONS = {
  ...PAGE_OPTIONS,
  stepUp: [requireStepUp],
  logoutUrl: [address],
  show: [keysOf({ ip: anything, location: callable() }), {}],
  path: [
    must(
      'be a path such as "/account/sessions", without a slash at the end',
      (path) => typeof path === 'string' && /^\/[^?#]*[^/?#]$/.test(path),
    ),
  ],
} as const satisfies Declared<AccountOptions>

export type ResolvedAccountOptions = Resolved<AccountOptions, typeof OPTIONS>

/**
 * Checks the options of the account page at startup.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveAccountOptions(options: AccountOptions = {}): ResolvedAccountOptions {
  return resolveDeclared(OPTIONS, options, 'account')
}

function requireStepUp(name: string, stepUp: StepUpOptions): void {
  keysOf({ freshFor: whole(60, 86_400), verify: callable(), attempts: checkFrequency, url: address })(name, stepUp)
  const { freshFor, verify, attempts, url } = stepUp
  if ([freshFor, verify, url].filter((way) => way !== undefined).length !== 1) {
    throw invalidOption('"stepUp" must have exactly one of "freshFor", "verify" and "url"')
  }
  if (attempts !== undefined && !verify) throw invalidOption('"stepUp.attempts" needs "stepUp.verify"')
}
