import type { DeviceKind } from '../../sessions/device-name.ts'
import type { Token } from '../../sessions/token.ts'
import type { ReaderTime } from '../../texts/reader-times.ts'
import type { Say } from '../../texts/texts-for.ts'
import type { PageResult } from './pages/page-result.ts'

/** One session of the list, in words. */
export interface AccountRow {
  /** What the form sends back to end this session. */
  readonly token: Token
  /** Such as "Chrome on Windows", or that it is unknown. */
  readonly device: string
  /** What kind of device it is. */
  readonly kind: DeviceKind
  /** Whether it is the session of this request. */
  readonly isCurrent: boolean
  /** Time of registration, which is usually the login. */
  readonly signedIn: ReaderTime
  /** Time of the last recorded use. */
  readonly used: ReaderTime
  /** What `show.location` returned. */
  readonly place: string | undefined
  /** With `show.ip`. */
  readonly ip: string | undefined
  /** Whether it is another sign-in of the current browser. Known with the option `device` of sessmgr() only. */
  readonly isSameBrowser: boolean
  /** Whether the next login ends it. */
  readonly isNext: boolean
}

/** The sessions of a user, in words. */
export interface AccountDevices {
  /** The session of this request. */
  readonly current: AccountRow | undefined
  /** The others of this page, last used first. */
  readonly others: readonly AccountRow[]
  /** Those of them that were not used for 30 days. */
  readonly unused: readonly AccountRow[]
  /** How many sessions there are, on all pages. */
  readonly count: number
  /** How many are allowed; null without a limit. */
  readonly maximum: number | null
  /** What the last form has done. */
  readonly result: PageResult | undefined
  /** Where to confirm that all others end; undefined without others. */
  readonly confirmUrl: string | undefined
  /** The next page of sessions. */
  readonly nextUrl: string | undefined
  /** The previous page of sessions. */
  readonly previousUrl: string | undefined
}

/** What a page of the account shows. */
export interface AccountView {
  /** Which page it is: the list, a question, or a failure. */
  readonly page: 'devices' | 'confirm' | 'again' | 'old' | 'away'
  /** Title of the window, as plain text. */
  readonly title: string
  /** Language of the texts. */
  readonly lang: string
  /** Direction of the texts: `ltr` or `rtl`. */
  readonly dir: string
  /** The content of the page, which needs no more than a `<main>` around it. Everything in it is escaped. */
  readonly html: string
  /** The style sheet for it. */
  readonly css: string
  /** The sessions; undefined for a failure. */
  readonly devices: AccountDevices | undefined
  /** Where forms are sent, by POST: `end` with a token, `others`, or `password`. */
  readonly action: string
  /** What each form sends in the field `proof`: it shows that the form is from this page. */
  readonly proof: string
  /** The reader's texts. */
  readonly say: Say
}
