import type { UserId } from '../../ground/user-id.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import { tokenOf } from '../../sessions/session-record.ts'
import { type ReaderTexts, readerTexts } from '../../texts/texts-for.ts'
import type { LimiterContext } from '../limiter-context.ts'
import {
  type DecidedLimit,
  evaluateLogin,
  isEnforced,
  type LoginAttempt,
  type SessionChoice,
} from './evaluate-login.ts'

const MINUTE_MS = 60_000

/** A limit that refuses a login, and the mode that decided. */
type RefusingLimit = Pick<DecidedLimit, 'mode' | 'context' | 'label'>

/** Returns the message for a refused login, with the time at which an unused session gives up its slot, if any will. */
export async function blockedMessage({ say }: ReaderTexts = readerTexts({}), reached?: RefusingLimit): Promise<string> {
  const { context, label } = reached ?? {}
  const { maximum = 0 } = context ?? {}
  const number = maximum === 1 ? 'one' : 'other'
  const plain = label === undefined ? say('login_blocked') : say(`login_blocked_kind_${number}`, { maximum })
  const at = reached?.mode.releaseTime?.(reached.context)
  if (!context || at === undefined) return plain
  const late = await import('../../texts/reader-times.ts').catch(() => undefined)
  if (!late) return plain
  const { isToday, time, exact } = late.readerTimes(say, context.now)(Math.ceil(at / MINUTE_MS) * MINUTE_MS)
  const values = { maximum, time: isToday ? time : exact, idle: late.readerDuration(say, context.idleAfterMs) }
  const key = label === undefined ? 'login_blocked_idle' : 'login_blocked_kind_idle'
  return say(`${key}_${number}`, values)
}

/** What would happen to a login now. */
export interface LoginPreview {
  /** Whether the login would be admitted. */
  readonly admit: boolean
  /** What the user would have to choose. Undefined if there is nothing to choose. */
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

/**
 * Returns how many sessions a user may have. Resolves to null if the user is exempt, or if the limit is not enforced.
 *
 * @param current The current settings.
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
export async function maximumInForce(
  context: Pick<LimiterContext, 'hooks' | 'settings' | 'logger'>,
  userId: UserId,
  current: SessionSettings,
): Promise<number | null> {
  const { maximum, enforced } = await limitOf(context, userId, current)
  return enforced ? maximum : null
}

/** How many sessions a user may have. */
export interface UserLimit {
  /** Null if the user is exempt. */
  readonly maximum: number | null
  /** Whether the limit is enforced. Otherwise, logins over it are only reported. */
  readonly enforced: boolean
}

/**
 * Returns how many sessions a user may have, and whether that is enforced.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
export async function limitOf(
  { hooks, settings, logger }: Pick<LimiterContext, 'hooks' | 'settings' | 'logger'>,
  userId: UserId,
  current: SessionSettings,
): Promise<UserLimit> {
  if ((await hooks.applyFilters('sessmgr_bypass', false, userId)) === true) return { maximum: null, enforced: true }
  const enforced = await isEnforced({ hooks, logger }, current.enforce, userId)
  return { maximum: await settings.maximumOf(userId, current), enforced }
}
