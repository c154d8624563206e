import type { PageContent } from '../../pages/page.ts'
import type { ListedDevice } from '../../pages/page-device.ts'

/** One session that the user may end, ready to display. */
export interface ChoiceRow extends ListedDevice {
  /** Whether it has not been used for a week, or for the time of the setting `idle_release`. */
  readonly isUnused: boolean
  /** Whether the user chose it before the page had to be shown again. */
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
  /** How many of them must end. */
  readonly need: number
  /** How many sessions the user may have. */
  readonly maximum: number
  /** Why the page is shown again. */
  readonly problem: ChoiceProblem | undefined
  /** When the next second proof is allowed, if there were too many and this is known. */
  readonly retryAt?: number | undefined
  /** In how many minutes the user has to sign in again. */
  readonly minutes: number
}

/** A page of the choice, ready to display. */
export interface ChoiceView extends PageContent {
  /**
   * `choose`: the list. `room`: nothing has to be chosen any more. `often`: the user has chosen too often. `old`: the
   * form is not from this page. `away`: the store is not available. `spent`: the store failed during the login, so
   * users have to sign in again.
   */
  readonly page: 'choose' | 'room' | 'often' | 'old' | 'away' | 'spent'
  /** What the user has to choose. Undefined on the other pages. */
  readonly devices: ChoiceDevices | undefined
  /** URL to send the form to, by POST: `end` with one token or more, `all`, or `cancel`. */
  readonly action: string
}
