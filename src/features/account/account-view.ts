import type { PageContent } from '../../pages/page-document.ts'
import type { DeviceKind } from '../../sessions/device-name.ts'
import type { Token } from '../../sessions/token.ts'
import type { ReaderTime } from '../../texts/reader-times.ts'
import type { Say } from '../../texts/texts-for.ts'
import type { PageResult } from './pages/page-result.ts'

/** One session in the list, ready to display. */
export interface AccountRow {
  /** Identifies the session in the form that ends it. */
  readonly token: Token
  /** Name of the device, such as "Chrome on Windows", or a text for an unknown one. */
  readonly device: string
  /** What kind of device it is. */
  readonly kind: DeviceKind
  /** Whether it is the session of this request. */
  readonly isCurrent: boolean
  /** Time of registration, which is usually the login. */
  readonly signedIn: ReaderTime
  /** Time of the last recorded use. */
  readonly used: ReaderTime
  /** What the option `show.location` returned. */
  readonly place: string | undefined
  /** Address of the client, with the option `show.ip`. */
  readonly ip: string | undefined
  /** Whether it is another sign-in of the current browser. Known only with the option `device` of sessmgr(). */
  readonly isSameBrowser: boolean
  /** Whether the next login ends it. */
  readonly isNext: boolean
}

/** A user's sessions, ready to display. */
export interface AccountDevices {
  /** The session of this request. */
  readonly current: AccountRow | undefined
  /** The other sessions on this page, last used first. */
  readonly others: readonly AccountRow[]
  /** The other sessions that were not used for 30 days. */
  readonly unused: readonly AccountRow[]
  /** How many sessions there are on all pages. */
  readonly count: number
  /** How many sessions are allowed; null without a limit. */
  readonly maximum: number | null
  /** The result of the last form. */
  readonly result: PageResult | undefined
  /** URL of the page that asks before all others end. Undefined if there are no others. */
  readonly confirmUrl: string | undefined
  /** URL of the next page of sessions. */
  readonly nextUrl: string | undefined
  /** URL of the previous page of sessions. */
  readonly previousUrl: string | undefined
}

/** A page of the account, ready to display. */
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
  /** What each form sends in the field `proof`, to show that the form is from this page. */
  readonly proof: string
  /** The reader's texts. */
  readonly say: Say
}
