import { load } from 'virtual:late-texts'
import { TEXT_DOMAIN } from '../ground/constants.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { LateKey } from './english.ts'

/** The English texts for logins and for REST calls without `host`. All others are loaded on demand: `english.ts`. */
const FIRST_TEXTS = {
  // The language of the texts
  lang: 'en',
  dir: 'ltr',

  // Signing in
  login_blocked:
    "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",
  // {idle} is a duration such as "30 minutes". {time} is when enough sessions will have been unused for that long.
  login_blocked_idle_one:
    'This account is in use on {maximum} device. Sign out there, or try again at {time}: a session unused for {idle} makes room.',
  login_blocked_idle_other:
    'This account is in use on {maximum} devices. Sign out on one of them, or try again at {time}: a session unused for {idle} makes room.',

  // For a limit on one kind of device, such as two computers
  login_blocked_kind_one: 'This account is in use on {maximum} device of this kind. Sign out there and try again.',
  login_blocked_kind_other:
    'This account is in use on {maximum} devices of this kind. Sign out on one of them and try again.',
  login_blocked_kind_idle_one:
    'This account is in use on {maximum} device of this kind. Sign out there, or try again at {time}: a session unused for ' +
    '{idle} makes room.',
  login_blocked_kind_idle_other:
    'This account is in use on {maximum} devices of this kind. Sign out on one of them, or try again at {time}: a session ' +
    'unused for {idle} makes room.',

  login_choice_one: 'This account is already signed in on the maximum number of devices. Choose one to sign out.',
  login_choice_other: 'This account is already signed in on the maximum number of devices. Choose {count} to sign out.',

  // A session's device, and the response of the REST routes without the `host` option
  account_device: '{browser} on {system}',
  rest_not_set_up: 'The admin routes are not set up.',
} as const satisfies Record<string, string>

/** Key of a text. The admin screen's keys begin with `admin_`. */
export type TextKey = keyof typeof FIRST_TEXTS | LateKey

/** Texts that replace the English ones. A missing or undefined key keeps its English text. */
export type Texts = { readonly [Key in TextKey]?: string | undefined }

type EnglishTexts = Readonly<Record<TextKey, string>>

let all: EnglishTexts | undefined

/** Adds the texts from `english.ts`. Code that is itself loaded on demand imports and passes {@link LATE_TEXTS}. */
export function addLateTexts(late: Readonly<Record<LateKey, string>>): void {
  all ??= { ...FIRST_TEXTS, ...late }
}

/** Returns the English text for a key. */
export function englishText(key: TextKey): string {
  return Object.hasOwn(FIRST_TEXTS, key) ? FIRST_TEXTS[key as keyof typeof FIRST_TEXTS] : allTexts()[key]
}

function allTexts(): EnglishTexts {
  if (!all) addLateTexts(loadTexts())
  return all as EnglishTexts
}

function loadTexts() {
  try {
    return load().LATE_TEXTS
  } catch (cause) {
    throw new SessmgrError(
      'invalid_option',
      "The file late-texts.cjs is not next to sessmgr's code. If you bundle this application, mark sessmgr as an " +
        'external package, or copy node_modules/sessmgr/dist/late-texts.cjs to the folder of the bundle.',
      { cause },
    )
  }
}

/** All English texts, for translation tools. `{name}` is a placeholder. */
export const textCatalogue: {
  /** The package's text domain. */
  readonly domain: string
  /** Texts by key. */
  readonly texts: Readonly<Record<TextKey, string>>
} = {
  domain: TEXT_DOMAIN,
  get texts() {
    return allTexts()
  },
}
