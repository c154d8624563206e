import type { PageContent } from '../../pages/page.ts'
import type { ListedDevice } from '../../pages/page-device.ts'
import type { PageResult } from './page-result.ts'

/** One session in the list, ready to display. */
export interface AccountRow extends ListedDevice {
  /** Whether it is the session of this request. */
  readonly isCurrent: boolean
  /** Name of the device, with the time if another one in the list has the same name. */
  readonly name: string
  /** What the option `show.location` returned. */
  readonly place: string | undefined
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
}
