import { invalidOption } from '../../ground/invalid-option.ts'
import {
  anything,
  callable,
  type Declared,
  keysOf,
  must,
  type Resolved,
  requireBoolean,
  resolveDeclared,
  whole,
} from '../../ground/option-checks.ts'
import { checkFrequency, type Frequency } from '../../limiter/reservations.ts'
import { address, PAGE_OPTIONS, type PageOptions } from '../../pages/page-options.ts'
import type { ChoiceView } from './choice-view.ts'

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

/** Options of the choice page. Omitted and undefined options have their defaults. */
export interface ChoiceOptions extends PageOptions<ChoiceView> {
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
   * Receives the fields of the form. Only `true` counts as yes. After three wrong proofs, users have to sign in again;
   * `attempts` limits them across logins.
   * @default no second proof
   */
  verify?: VerifyChoice | undefined
  /** How many second proofs a user may send, right or wrong. @default { count: 5, minutes: 10 } */
  attempts?: Frequency | undefined
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
}

/** Names that the form of the page uses itself. */
export const OWN_FIELDS = ['end', 'all', 'cancel', 'proof', 'pending']

const isFieldName = (name: unknown) => typeof name === 'string' && /^[\w-]+$/.test(name) && !OWN_FIELDS.includes(name)
const isPagePath = (url: unknown) => typeof url === 'string' && /^\/[^/?#\s\\](?:[^?#\s\\]*[^/?#\s\\])?$/.test(url)

const OPTIONS = {
  ...PAGE_OPTIONS,
  url: [must('be a path such as "/login/choose", without a slash at the end', isPagePath), '/login/choose'],
  successRedirect: [address, '/'],
  complete: [callable()],
  verify: [callable()],
  attempts: [checkFrequency],
  field: [
    keysOf({
      name: must(`consist of letters, digits, "_" and "-", and not be one of ${OWN_FIELDS.join(', ')}`, isFieldName),
      label: must('be a string', (label) => typeof label === 'string'),
    }),
    {},
  ],
  show: [keysOf({ ip: anything }), {}],
  choiceSeconds: [whole(60, 900), 300],
  cooldown: [checkFrequency],
  secretInBody: [requireBoolean, false],
} as const satisfies Declared<ChoiceOptions>

export interface ResolvedChoiceOptions
  extends Omit<Resolved<ChoiceOptions, typeof OPTIONS>, 'field' | 'show' | 'choiceSeconds'> {
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
  const { field, show, choiceSeconds: seconds, ...resolved } = resolveDeclared(OPTIONS, options, 'choice')
  if (resolved.attempts !== undefined && !resolved.verify) throw invalidOption('"attempts" needs "verify"')
  const { name = 'code', label } = field
  return { ...resolved, field: { name, label }, showsIp: show.ip === true, seconds }
}
