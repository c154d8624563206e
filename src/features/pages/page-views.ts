import type { DeviceKind } from '../../sessions/device.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { ReaderTime } from '../../texts/reader-times.ts'
import type { Say } from '../../texts/texts-for.ts'

/** A page without the document around it. */
export interface PageContent {
  /** Title of the window, as plain text. */
  readonly title: string
  /** Language of the texts. */
  readonly lang: string
  /** Direction of the texts: `ltr` or `rtl`. */
  readonly dir: string
  /** The content of the page, to be placed in a `<main>`. All inserted values are escaped. */
  readonly html: string
  /** The style sheet for the content. */
  readonly css: string
  /** Nonce that each form sends in the `proof` field, to show that the form is from this page. */
  readonly proof: string
  /** The reader's texts. */
  readonly say: Say
}

/** A session in a list, ready to display. */
export interface ListedDevice {
  /** Identifies the session. The form that ends the session sends this token as `end`. */
  readonly token: Token
  /** Name of the device, such as "Chrome on Windows", or a text for an unknown one. */
  readonly device: string
  /** Kind of device. */
  readonly kind: DeviceKind
  /** Time of registration, which is usually the login. */
  readonly signedIn: ReaderTime
  /** The sign-in time, as the page shows it. It differs between devices that would otherwise look the same. */
  readonly since: string
  /** Time of the last recorded use. */
  readonly used: ReaderTime
  /** Address of the client, with the `show.ip` option. */
  readonly ip: string | undefined
}

/** The result of a form, for the page that follows it. */
export interface PageResult {
  /**
   * `ended`, `ended_others`: done. `gone`: the session had already ended. `uncertain`: the store failed meanwhile.
   * `login`, `url`, `password`: a proof is needed first. `wrong`: the password was wrong. `often`: there were too many
   * attempts. `proved`: the password was right.
   */
  readonly kind:
    | 'ended'
    | 'ended_others'
    | 'gone'
    | 'uncertain'
    | 'login'
    | 'url'
    | 'password'
    | 'wrong'
    | 'often'
    | 'proved'
  /** The device that the form was about. Undefined if it was about all other sessions. */
  readonly device?: string | undefined
  /** Token of the session, so that the page can ask again after a wrong password. */
  readonly token?: string | undefined
  /** How many sessions ended. */
  readonly count?: number | undefined
  /** When the user may try another password, if known. */
  readonly retryAt?: number | undefined
}

/** One session in the list, ready to display. */
export interface AccountRow extends ListedDevice {
  /** Whether this is the session of the request. */
  readonly isCurrent: boolean
  /** Name of the device, with the time if another in the list has the same name. */
  readonly name: string
  /** What the `show.location` option returned. */
  readonly place: string | undefined
  /** Whether this is another sign-in in the current browser. Known only with the `device` option of sessmgr(). */
  readonly isSameBrowser: boolean
  /** Whether the next login ends the session. */
  readonly isNext: boolean
  /** Whether another user acts as this one in the session, as support does. */
  readonly isActing: boolean
  /** Whether the session counts toward the limit. */
  readonly counts: boolean
  /** Whether the session is bound to its device; see `boundSessions()`. */
  readonly isBound: boolean
}

/** A user's sessions, ready to display. */
export interface AccountDevices {
  /** The session of this request. */
  readonly current: AccountRow | undefined
  /** The other sessions on this page, except `unused` ones, last used first. */
  readonly others: readonly AccountRow[]
  /** The other sessions on this page that have not been used for 30 days. */
  readonly unused: readonly AccountRow[]
  /** How many sessions count toward the limit, on all pages. */
  readonly count: number
  /** How many sessions are allowed; null without an enforced limit. */
  readonly maximum: number | null
  /** The result of the last form. */
  readonly result: PageResult | undefined
  /** URL of the page that asks for confirmation before all others end. Undefined without others. */
  readonly confirmUrl: string | undefined
  /** URL of the next page of sessions. */
  readonly nextUrl: string | undefined
  /** URL of the previous page of sessions. */
  readonly previousUrl: string | undefined
}

/** The account page, ready to display. */
export interface AccountView extends PageContent {
  /**
   * `devices`: the list. `confirm`: asks before ending all others. `again`: asks users to prove their identity. `old`:
   * the form has expired. `away`: the list cannot be shown now.
   */
  readonly page: 'devices' | 'confirm' | 'again' | 'old' | 'away'
  /** The sessions. Undefined on an error page. */
  readonly devices: AccountDevices | undefined
  /** URL to send forms to, by POST: `end` with a token, `others`, or `password`. */
  readonly action: string
}

/** One session that the user may end, ready to display. */
export interface ChoiceRow extends ListedDevice {
  /** Whether the session has not been used for a week, or for the time of the `idle_release` setting. */
  readonly isUnused: boolean
  /** Whether the user chose the session before the page had to be shown again. */
  readonly isChosen: boolean
}

/**
 * Why the page is shown again. `few`: not enough sessions were chosen. `changed`: the sessions have changed in the
 * meantime. `unproved`: the second proof is wrong. `guessed`: there were too many second proofs.
 */
export type ChoiceProblem = 'few' | 'changed' | 'unproved' | 'guessed'

/** What the user has to choose, ready to display. */
export interface ChoiceDevices {
  /** The sessions, least recently used first. */
  readonly rows: readonly ChoiceRow[]
  /** How many of the sessions must end. */
  readonly need: number
  /** How many sessions the user may have. */
  readonly maximum: number
  /** Why the page is shown again. */
  readonly problem: ChoiceProblem | undefined
  /** When the next second proof is allowed, if there were too many and this is known. */
  readonly retryAt?: number | undefined
  /** How many minutes the user has left to choose. After that, they have to sign in again. */
  readonly minutes: number
}

/** The choice page, ready to display. */
export interface ChoiceView extends PageContent {
  /**
   * `choose`: the list. `room`: nothing has to be chosen any more. `often`: the user has chosen too often. `old`: the
   * form is not from this page. `away`: the store is not available. `spent`: the store failed during the login, so
   * users have to sign in again.
   */
  readonly page: 'choose' | 'room' | 'often' | 'old' | 'away' | 'spent'
  /** What the user has to choose. Undefined on other pages. */
  readonly devices: ChoiceDevices | undefined
  /** URL to send the form to, by POST: `end` with one token or more, `all`, or `cancel`. */
  readonly action: string
}
