import { invalidOption } from '../../ground/invalid-option.ts'
import { inWords, requireOptions } from '../../ground/option-checks.ts'
import { requireUserId, type UserId } from '../../ground/user-id.ts'
import { A_MAXIMUM, isMaximum } from '../../options/setting-rules.ts'
import { deviceName } from '../../sessions/device.ts'
import { isCurrent, type SessionRecord, type Token } from '../../sessions/session-record.ts'
import { MOST_SESSIONS } from '../../sessions/session-registry.ts'
import type { LimitDecision } from '../../strategies/limit-strategy.ts'
import { isIdle } from '../../strategies/slots.ts'
import { heldSessions } from '../check-session.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { labelOfLogin } from './commit-login.ts'
import { evaluateLogin, isEnforced, type LoginEvaluation } from './evaluate-login.ts'
import { type LabelLimits, labelsOf, limitFor } from './label-group.ts'

const NAMES = ['mode', 'maximum', 'userAgent', 'label'] as const satisfies readonly (keyof ExplainOptions)[]

/** What to assume about a user's next login. */
export interface ExplainOptions {
  /** The mode, instead of the current one. */
  readonly mode?: string | undefined
  /** How many sessions the user may have, instead of the current maximum. */
  readonly maximum?: number | undefined
  /** User agent of the login, which decides its label with the `limits` option. @default unknown */
  readonly userAgent?: string | null | undefined
  /** The label that the `login` option gives the login. @default none */
  readonly label?: string | undefined
}

/** A live session of the user. */
export interface ExplainedSession {
  /** As in {@link SessionRecord}. */
  readonly token: Token
  /** Browser and system, such as "Chrome on Windows". Null if unknown. */
  readonly device: string | null
  /** When the session was registered, in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** When the session was last used, in milliseconds since the Unix epoch. */
  readonly lastSeenAt: number
  /** As in {@link SessionRecord}. */
  readonly expiresAt: number
  /** Label of the session, from the `login` option or, with the `limits` option, from `labelOf`. */
  readonly label?: string
  /** Whether the session counts toward the limit. */
  readonly counts: boolean
  /** Whether the session has been unused long enough to give up its slot, by the `idle_release` setting. */
  readonly idle: boolean
  /** Whether the session would end at the next login. */
  readonly wouldEnd: boolean
}

/** How the limit applies to a user. */
export interface LimitExplanation {
  /** How many sessions the user may have. */
  readonly maximum: number
  /** Where the maximum comes from: the settings, your own function or filter, or the options of the call. */
  readonly from: 'settings' | 'filter' | 'options'
  /** Whether the `sessmgr_bypass` filter exempts the user. */
  readonly bypassed: boolean
  /** Whether the limit is enforced. If not, logins over it are only reported. */
  readonly enforced: boolean
  /** The mode: a value of the `logic` setting. */
  readonly mode: string
  /** How many seconds after its login the next session ends, whatever its use; 0 for never. */
  readonly maxAge: number
  /** The user's live sessions, oldest first. */
  readonly live: readonly ExplainedSession[]
  /**
   * What happens to the next login from a new browser: it is admitted, ends sessions, asks the user to choose
   * sessions first, or is refused.
   */
  readonly nextLogin: 'admitted' | 'ends' | 'asked' | 'refused'
  /** How many sessions the user has to choose, if asked. */
  readonly need?: number
  /** The label whose limit decides, with the `limits` option. */
  readonly label?: string
  /** How many sessions the user may have with each label, or with the labels of `live`, with the `limits` option. */
  readonly limits?: Readonly<Record<string, number>>
  /**
   * When enough sessions will have expired or been unused for long enough to admit the login, in milliseconds since the
   * Unix epoch. Only with the `idle_release` setting, if the login is refused or the user has to choose.
   */
  readonly freeAt?: number
}

/**
 * Explains how the limit applies to a user, and what it does with their next login. Changes nothing, but runs the
 * limit's filters.
 *
 * @throws SessmgrError `user_id_missing`, `invalid_option`, `hook_failed`, `hook_timeout`, `store_unavailable`.
 */
export async function explainLogin(
  context: LimiterContext,
  userId: UserId,
  options: ExplainOptions = {},
): Promise<LimitExplanation> {
  requireUserId(userId)
  checkOptions(context, options)
  const { settings, modes } = context
  const { mode, maximum: assumed, userAgent, label: given } = options
  const attempt = { userId, userAgent, terms: { label: given ?? null, counts: true } }
  const evaluation = await evaluateLogin(context, attempt, [], options)
  const { settings: current, isExempt, measured, reached } = evaluation
  const own = isExempt ? undefined : measured?.maximum
  const maximum = assumed ?? own ?? (await settings.maximumOf(userId, current))
  const { decision, label } = reached ?? {}
  const live = await explainSessions(context, evaluation)
  const freeAt = decision?.admit === false ? reached?.mode.releaseTime?.(reached.context) : undefined
  return {
    maximum,
    from:
      assumed !== undefined ? 'options' : maximum === Math.min(current.maximum, MOST_SESSIONS) ? 'settings' : 'filter',
    bypassed: isExempt,
    enforced: await isEnforced(context, current.enforce, userId),
    mode: modes.strategyOf(mode ?? current.logic).id,
    maxAge: (await settings.ageAtLogin(userId, current, () => labelOfLogin(context, attempt))) / 1000,
    live,
    nextLogin: outcomeOf(decision),
    ...(decision?.choose !== undefined && { need: decision.choose }),
    ...(label !== undefined && { label }),
    ...(context.labels && { limits: limitsIn(context.labels, live) }),
    ...(freeAt !== undefined && { freeAt }),
  }
}

function limitsIn(labels: LabelLimits, live: readonly ExplainedSession[]): Readonly<Record<string, number>> {
  if (typeof labels.limits !== 'function') return labels.limits
  const names = live.flatMap(({ label }) => label ?? [])
  const found = names.map((name) => [name, limitFor(labels, name)] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, number] => entry[1] !== undefined))
}

function outcomeOf(decision: LimitDecision | undefined): LimitExplanation['nextLogin'] {
  if (!decision || (decision.admit && decision.end.length === 0)) return 'admitted'
  if (decision.admit) return 'ends'
  return decision.choose === undefined ? 'refused' : 'asked'
}

/** Explains all live sessions, whereas a login checks only as many as it needs. */
async function explainSessions(
  { hostSessions, labels }: LimiterContext,
  { read, epoch, measured, reached }: LoginEvaluation,
): Promise<readonly ExplainedSession[]> {
  const current = read.sessions.filter(({ record }) => isCurrent(epoch, record))
  const answers = await heldSessions(hostSessions, current, Number.POSITIVE_INFINITY)
  const live = current.filter((_, index) => answers[index]).map(({ record }) => record)
  const names = labels ? await labelsOf(labels, live) : live.map(({ label }) => label ?? undefined)
  const ending = reached?.decision.end.map(({ token }) => token) ?? []
  const explain = async (session: SessionRecord, index: number) => ({
    token: session.token,
    device: (await deviceName(session.userAgent)).name,
    createdAt: session.createdAt,
    lastSeenAt: session.lastSeenAt,
    expiresAt: session.expiresAt,
    counts: session.counts,
    ...(names[index] !== undefined && { label: names[index] }),
    idle: measured !== undefined && isIdle(session, measured),
    wouldEnd: ending.includes(session.token),
  })
  return Promise.all(live.map(explain))
}

function checkOptions({ modes }: LimiterContext, options: ExplainOptions): void {
  requireOptions('explain', options, NAMES)
  const { mode, maximum, userAgent, label } = options
  if (label !== undefined && typeof label !== 'string') {
    throw invalidOption(`"label" must be a string; got ${inWords(label)}`)
  }
  if (mode !== undefined && modes.strategyOf(mode).id !== mode) {
    throw invalidOption(`"mode" must be a mode id, such as block; got ${inWords(mode)}`)
  }
  if (maximum !== undefined && !isMaximum(maximum)) {
    throw invalidOption(`"maximum" must be ${A_MAXIMUM}; got ${inWords(maximum)}`)
  }
  if (userAgent !== undefined && userAgent !== null && typeof userAgent !== 'string') {
    throw invalidOption(`"userAgent" must be a string or null; got ${inWords(userAgent)}`)
  }
}
