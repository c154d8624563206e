import { invalidOption } from '../../ground/invalid-option.ts'
import {
  requireBoolean,
  requireKnown,
  requireObject,
  requireOptions,
  requireWhole,
} from '../../ground/option-checks.ts'
import { checkPageOptions, requireAddresses, requireFunction } from '../../pages/page-options.ts'
import type { TextsOption } from '../../texts/texts-for.ts'
import type { ChoiceView } from './choice-view.ts'

/** The field of a second proof. */
export interface ChoiceField {
  /** Name of the field. @default 'code' */
  readonly name?: string | undefined
  /** Label of the field, as plain text. @default 'Your code' */
  readonly label?: string | undefined
}

/** How often a user may choose sessions. */
export interface ChoiceCooldown {
  /** How many choices are allowed within the period, from 1 to 100. */
  readonly count: number
  /** Length of the period in minutes, from 1 to 1,440. */
  readonly minutes: number
}

/** Checks a second proof. */
// biome-ignore lint/suspicious/noExplicitAny: only the application knows the types of its requests and users.
export type VerifyChoice = (request: any, user: any, fields: Readonly<Record<string, string>>) => unknown

/** Options of the choice page. Omitted and undefined options have their defaults. */
export interface ChoiceOptions {
  /** Path where the page is mounted. Logins at the limit redirect to it. @default '/login/choose' */
  url?: string | undefined
  /**
   * Path where users sign in. Users who have to start again are sent there with the parameter `choice`: `expired`,
   * `cookies` if the browser refuses cookies, or `blocked`. @default '/login'
   */
  loginUrl?: string | undefined
  /** Path to redirect to after the login, unless the session has Passport's `returnTo`. @default '/' */
  successRedirect?: string | undefined
  /**
   * Signs the user in with `request.logIn` or `limiter.login()`. Required without Passport, where only your code can set
   * your session data. Without `host`, the user is an object with only the id. @default Passport's request.logIn
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the types of its requests and users.
  complete?: ((request: any, response: any, user: any) => unknown) | undefined
  /**
   * Checks a second proof before a choice ends anything. Logins that need no choice do not ask for it.
   *
   * Receives the fields of the form. Only `true` counts as yes. After three wrong proofs, users have to sign in again.
   * @default no second proof
   */
  verify?: VerifyChoice | undefined
  /** The field of the second proof. @default { name: 'code' } */
  field?: ChoiceField | undefined
  /** What else to show about a session. @default no address */
  show?:
    | {
        /** Whether to show addresses. Someone other than the user may know the password. @default false */
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
  /** Texts of this page. They override the option `texts` of sessmgr(). @default no overrides */
  texts?: TextsOption | undefined
  /** Returns the page with `view.html` in your own layout. You must then set the content security policy yourself. */
  render?: ((view: ChoiceView) => string | Promise<string>) | undefined
  /** Colors, by the names of the page's custom properties, such as `{ accent: '#0a5' }`. @default sessmgr's colors */
  styles?: Readonly<Record<string, string>> | undefined
  /** Origins that may show the page in a frame. @default none */
  frameAncestors?: readonly string[] | undefined
}

export interface ResolvedChoiceOptions
  extends Pick<ChoiceOptions, 'complete' | 'verify' | 'cooldown' | 'texts' | 'render'> {
  readonly url: string
  readonly loginUrl: string
  readonly successRedirect: string
  readonly field: { readonly name: string; readonly label: string | undefined }
  readonly showsIp: boolean
  readonly seconds: number
  readonly secretInBody: boolean
  readonly styles: Readonly<Record<string, string>>
  readonly frameAncestors: readonly string[]
}

const OPTIONS = [
  'url',
  'loginUrl',
  'successRedirect',
  'complete',
  'verify',
  'field',
  'show',
  'choiceSeconds',
  'cooldown',
  'secretInBody',
  'texts',
  'render',
  'styles',
  'frameAncestors',
] as const satisfies readonly (keyof ChoiceOptions)[]

/** Names that the form of the page uses itself. */
const OWN_FIELDS = ['end', 'all', 'cancel', 'proof', 'pending']

/**
 * Checks the options of the choice page at startup.
 *
 * @throws SessmgrError `invalid_option` that names the option.
 */
export function resolveChoiceOptions(options: ChoiceOptions = {}): ResolvedChoiceOptions {
  requireOptions('choice', options, OPTIONS)
  const { url = '/login/choose', loginUrl = '/login', successRedirect = '/', complete, verify } = options
  const { field = {}, show = {}, choiceSeconds = 300, cooldown, secretInBody = false } = options
  const { styles = {}, frameAncestors = [], render } = options
  if (!(typeof url === 'string' && /^\/[^/?#\s\\](?:[^?#\s\\]*[^/?#\s\\])?$/.test(url))) {
    throw invalidOption('"url" must be a path such as "/login/choose", without a slash at the end')
  }
  requireAddresses({ loginUrl, successRedirect })
  for (const [name, value] of Object.entries({ complete, verify })) {
    if (value !== undefined) requireFunction(name, value)
  }
  requireObject('"show"', show)
  requireKnown(show, ['ip'], (name) => `"show" has no key "${name}"`)
  requireWhole('choiceSeconds', choiceSeconds, 60, 900)
  requireBoolean('secretInBody', secretInBody)
  checkCooldown(cooldown)
  checkPageOptions({ styles, frameAncestors, render })
  return {
    ...options,
    url,
    loginUrl,
    successRedirect,
    field: resolveField(field),
    showsIp: show.ip === true,
    seconds: choiceSeconds,
    secretInBody,
    styles,
    frameAncestors,
  }
}

function resolveField(field: ChoiceField): ResolvedChoiceOptions['field'] {
  requireObject('"field"', field)
  requireKnown(field, ['name', 'label'], (name) => `"field" has no key "${name}"`)
  const { name = 'code', label } = field
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name) || OWN_FIELDS.includes(name)) {
    throw invalidOption(
      `"field.name" must consist of letters, digits, "_" and "-", and not be one of ${OWN_FIELDS.join(', ')}`,
    )
  }
  if (label !== undefined && typeof label !== 'string') throw invalidOption('"field.label" must be a string')
  return { name, label }
}

function checkCooldown(cooldown: ChoiceCooldown | undefined): void {
  if (cooldown === undefined) return
  requireObject('"cooldown"', cooldown)
  requireKnown(cooldown, ['count', 'minutes'], (name) => `"cooldown" has no key "${name}"`)
  requireWhole('cooldown.count', cooldown.count, 1, 100)
  requireWhole('cooldown.minutes', cooldown.minutes, 1, 1440)
}
