import { invalidOption } from '../../ground/invalid-option.ts'
import {
  callable,
  type Declared,
  keysOf,
  must,
  type Resolved,
  requireBoolean,
  requireKnown,
  requireObject,
  requireWhole,
  resolveDeclared,
  whole,
} from '../../ground/option-checks.ts'
import { isAddress, isListOf, isOrigin } from '../../routes/page-addresses.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { Frequency } from '../../sessions/user-state.ts'
import { checkTexts, type TextsOption } from '../../texts/texts-for.ts'
import type { AccountView, ChoiceView } from './page-views.ts'

/** Returns hidden fields for the forms of a page. Receives the request as your framework passes it to your code. */
// biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
export type FormFields = (request: any) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>

/** Options of every page. */
interface PageOptions<View> {
  /** Hidden fields for the forms, such as the token of your CSRF middleware. @default none */
  fields?: FormFields | undefined
  /** Texts of this page. They override the `texts` option of sessmgr(). @default no overrides */
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

/**
 * Checks an option that limits how often something may happen, unless it is undefined.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
function checkFrequency(name: string, frequency: Frequency | undefined): void {
  if (frequency === undefined) return
  requireObject(`"${name}"`, frequency)
  requireKnown(frequency, ['count', 'minutes'], (key) => `"${name}" has no key "${key}"`)
  requireWhole(`${name}.count`, frequency.count, 1, 100)
  requireWhole(`${name}.minutes`, frequency.minutes, 1, 1440)
}

/** Requires a path or a URL. */
const address = must('be a path or an http or https URL', isAddress)

/** The options of every page. */
const PAGE_OPTIONS = {
  loginUrl: [address, '/login'],
  fields: [callable()],
  texts: [checkTexts],
  render: [callable()],
  styles: [keysOf(Object.fromEntries(COLORS.map((name) => [name, color])), 'color'), {}],
  frameAncestors: [must('be a list of origins such as "https://cdn.example"', (list) => isListOf(list, isOrigin)), []],
} as const

/** The resolved options of a page. */
// biome-ignore lint/suspicious/noExplicitAny: each page has a view of its own.
export type ResolvedPageOptions = Resolved<PageOptions<any>, typeof PAGE_OPTIONS> & {
  readonly loginUrl: string
}

/**
 * How users prove their identity before they end sessions. Set exactly one of `freshFor`, `verify` and `url`. The list
 * itself is always shown without a proof.
 *
 * Whichever is set, a call to `limiter.reauthenticated(request)` counts as a proof for ten minutes, or for `freshFor` if
 * that is longer.
 */
export interface StepUpOptions {
  /**
   * For how many seconds after the login a session may end others, from 60 to 86,400. After that, users must sign in
   * again.
   */
  readonly freshFor?: number | undefined
  /** Checks the user's password, which the page then asks for. Only `true` counts as yes. */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
  readonly verify?: ((request: any, password: string) => boolean | Promise<boolean>) | undefined
  /**
   * How many wrong passwords one session may try with `verify`. All sessions of a user together may try four times as
   * many. @default { count: 5, minutes: 10 }
   */
  readonly attempts?: Frequency | undefined
  /** URL of your own page, which asks for a proof and then calls `limiter.reauthenticated(request)`. */
  readonly url?: string | undefined
}

/** What the page shows about a session, besides its device and its times. */
export interface ShowOptions {
  /** Whether to show the address. @default false */
  readonly ip?: boolean | undefined
  /** Whether to show sessions that do not count, as of support. @default true */
  readonly uncounted?: boolean | undefined
  /** Returns the location of a session, such as "Berlin". The page waits for the result for at most a second. */
  readonly location?:
    | ((session: SessionRecord) => string | null | undefined | Promise<string | null | undefined>)
    | undefined
}

/** Options of the account page. Omitted and undefined options use their defaults. */
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

const ACCOUNT_OPTIONS = {
  ...PAGE_OPTIONS,
  stepUp: [requireStepUp],
  logoutUrl: [address],
  show: [keysOf({ ip: requireBoolean, uncounted: requireBoolean, location: callable() }), {}],
  path: [
    must(
      'be a path such as "/account/sessions", without a slash at the end',
      (path) => typeof path === 'string' && /^\/[^?#]*[^/?#]$/.test(path),
    ),
  ],
} as const satisfies Declared<AccountOptions>

export type ResolvedAccountOptions = Resolved<AccountOptions, typeof ACCOUNT_OPTIONS>

/**
 * Checks the options of the account page at startup.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveAccountOptions(options: AccountOptions = {}): ResolvedAccountOptions {
  return resolveDeclared(ACCOUNT_OPTIONS, options, { caller: 'account' })
}

function requireStepUp(name: string, stepUp: StepUpOptions): void {
  keysOf({ freshFor: whole(60, 86_400), verify: callable(), attempts: checkFrequency, url: address })(name, stepUp)
  const { freshFor, verify, attempts, url } = stepUp
  if ([freshFor, verify, url].filter((way) => way !== undefined).length !== 1) {
    throw invalidOption('"stepUp" must have exactly one of "freshFor", "verify" and "url"')
  }
  if (attempts !== undefined && !verify) throw invalidOption('"stepUp.attempts" needs "stepUp.verify"')
}

/** The field of a second proof. */
export interface ChoiceField {
  /** Name of the field. @default 'code' */
  readonly name?: string | undefined
  /** Label of the field, as plain text. @default 'Your code' */
  readonly label?: string | undefined
}

/** How often a user may choose sessions. */
export type ChoiceCooldown = Frequency

/** Checks a second proof. */
// biome-ignore lint/suspicious/noExplicitAny: only the application knows the types of its requests and users.
export type VerifyChoice = (request: any, user: any, fields: Readonly<Record<string, string>>) => unknown

/** Options of the choice page. Omitted and undefined options use their defaults. */
export interface ChoiceOptions extends PageOptions<ChoiceView> {
  /** Path of the page in the browser. Logins at the limit redirect to it. @default '/login/choose' */
  url?: string | undefined
  /**
   * Path where users sign in. Users who have to start again are sent there with the `choice` parameter: `expired`,
   * `cookies` if the browser refuses cookies, or `blocked`. @default '/login'
   */
  loginUrl?: string | undefined
  /** Path to redirect to after the login, unless the session has Passport's `returnTo`. @default '/' */
  successRedirect?: string | undefined
  /**
   * Signs the user in with `request.logIn`, `limiter.login()` or, for a `Request`, `calls.login()`. Required without
   * Passport, because only your code can set your session data. Without `host`, the user is an object with only the id. @default Passport's request.logIn
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the types of its requests and users.
  complete?: ((request: any, response: any, user: any) => unknown) | undefined
  /**
   * Checks a second proof before a choice ends anything. Logins that need no choice do not ask for it.
   *
   * Receives the fields of the form. Only `true` counts as yes. `attempts` limits wrong
   * proofs, across logins.
   * @default no second proof
   */
  verify?: VerifyChoice | undefined
  /** How many wrong second proofs a user may send. @default { count: 20, minutes: 10 } */
  attempts?: Frequency | undefined
  /** The field of the second proof. @default { name: 'code' } */
  field?: ChoiceField | undefined
  /** What else to show about a session. @default no address */
  show?:
    | {
        /** Whether to show addresses, also to someone else who knows the password. @default false */
        readonly ip?: boolean | undefined
      }
    | undefined
  /** How many seconds a login waits for the choice, from 60 to 900. @default 300 */
  choiceSeconds?: number | undefined
  /** How often a user may choose, such as `{ count: 3, minutes: 60 }`. @default no limit */
  cooldown?: ChoiceCooldown | undefined
  /**
   * Whether JSON responses contain the secret of the login, for clients without cookies. Scripts of your pages can then
   * read it. @default false
   */
  secretInBody?: boolean | undefined
}

/** Names of the fields that the form of the page uses itself. */
export const CHOICE_FIELDS = ['end', 'all', 'cancel', 'proof', 'pending']

const isFieldName = (name: unknown) =>
  typeof name === 'string' && /^[\w-]+$/.test(name) && !CHOICE_FIELDS.includes(name)
const isPagePath = (url: unknown) => typeof url === 'string' && /^\/[^/?#\s\\](?:[^?#\s\\]*[^/?#\s\\])?$/.test(url)

const CHOICE_OPTIONS = {
  ...PAGE_OPTIONS,
  url: [must('be a path such as "/login/choose", without a slash at the end', isPagePath), '/login/choose'],
  successRedirect: [address, '/'],
  complete: [callable()],
  verify: [callable()],
  attempts: [checkFrequency],
  field: [
    keysOf({
      name: must(`consist of letters, digits, "_" and "-", and not be one of ${CHOICE_FIELDS.join(', ')}`, isFieldName),
      label: must('be a string', (label) => typeof label === 'string'),
    }),
    {},
  ],
  show: [keysOf({ ip: requireBoolean }), {}],
  choiceSeconds: [whole(60, 900), 300],
  cooldown: [checkFrequency],
  secretInBody: [requireBoolean, false],
} as const satisfies Declared<ChoiceOptions>

export interface ResolvedChoiceOptions
  extends Omit<Resolved<ChoiceOptions, typeof CHOICE_OPTIONS>, 'field' | 'show' | 'choiceSeconds'> {
  readonly field: { readonly name: string; readonly label: string | undefined }
  readonly showsIp: boolean
  readonly seconds: number
}

/**
 * Checks the options of the choice page at startup.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveChoiceOptions(options: ChoiceOptions = {}): ResolvedChoiceOptions {
  const {
    field,
    show,
    choiceSeconds: seconds,
    ...resolved
  } = resolveDeclared(CHOICE_OPTIONS, options, { caller: 'choice' })
  if (resolved.attempts !== undefined && !resolved.verify) throw invalidOption('"attempts" needs "verify"')
  const { name = 'code', label } = field
  return { ...resolved, field: { name, label }, showsIp: show.ip === true, seconds }
}
