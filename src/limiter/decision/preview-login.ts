import { tokenOf } from '../../sessions/token.ts'
import type { SessionChoice } from '../admit-login.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { evaluateLogin } from './evaluate-login.ts'
import type { LoginAttempt } from './login-attempt.ts'

/** What would happen to a login at this moment. */
export interface LoginPreview {
  /** Whether it would be admitted. */
  readonly admit: boolean
  /** What the user would have to choose. Undefined if they have no choice. */
  readonly choice: SessionChoice | undefined
  /** How many of the sessions that the user chose would end. */
  readonly ends: number
}

/** Decides on a login without performing it. Changes nothing. */
export async function previewLogin(context: LimiterContext, attempt: LoginAttempt): Promise<LoginPreview> {
  const replaced = attempt.replaces === undefined ? [] : [tokenOf(attempt.replaces)]
  const { decision, chosen, reached } = await evaluateLogin(context, attempt, replaced)
  const { admit, choose } = decision
  if (admit || choose === undefined || !reached) return { admit, choice: undefined, ends: chosen.length }
  const { maximum, sessions } = reached.context
  return { admit, choice: { need: choose, maximum, sessions }, ends: chosen.length }
}
