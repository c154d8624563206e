import type { SessionChoice } from '../../limiter/admit-login.ts'
import type { PendingLogin } from '../../limiter/pending/pending-logins.ts'
import type { Token } from '../../sessions/token.ts'
import type { ChoiceProblem } from './choice-view.ts'

/** What the user has to choose, and for which pending login. */
export interface OpenChoice {
  readonly login: PendingLogin
  readonly secret: string
  /** Undefined if the login would be admitted without a choice. */
  readonly choice: SessionChoice | undefined
  /** The sessions that were chosen before. */
  readonly chosen: readonly Token[]
  readonly problem: ChoiceProblem | undefined
  /** Whether the login lost a race, although enough sessions were chosen. */
  readonly isRace?: boolean
}

/**
 * The result of a request for the page. `open`: the user has to choose. `signed_in`, `cancelled`: the login is over.
 * `expired`: there is no such login any more. `gone`: the user of the login is unknown. `blocked`: the limit leaves no
 * choice. `often`: the user has chosen too often. `old`: the form is not from this page. `spent`: the store failed
 * during the login.
 */
export type ChoiceOutcome =
  | ({ readonly kind: 'open' } & OpenChoice)
  | { readonly kind: 'signed_in'; readonly ended: number; readonly target: string }
  | { readonly kind: 'often'; readonly until: number }
  | { readonly kind: 'cancelled' | 'expired' | 'gone' | 'blocked' | 'old' | 'spent' }
