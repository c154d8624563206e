import type { SessionSettings } from '../../options/setting-rules.ts'
import type { SessionRecord, StoredSession } from '../../sessions/session-record.ts'
import type { SessionChange } from '../../sessions/session-registry.ts'
import type { Token } from '../../sessions/token.ts'
import type { LimitContext, LimitDecision } from '../../strategies/limit-strategy.ts'
import type { AnnouncedAction } from '../actions/announced-action.ts'
import { heldSessions } from '../held-sessions.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { decideByLimits } from './decide-by-limits.ts'
import { idleTime, unusedSessions } from './idle-time.ts'
import type { LabelLimits } from './label-group.ts'
import type { LoginAttempt } from './login-attempt.ts'
import { type DecidedLimit, isEnforced, reportOf } from './report-only.ts'
import { verdictOf } from './verdict-of.ts'

/** A decision on a login, valid while the user's sessions stay at `version`. */
export interface LoginEvaluation {
  readonly version: string
  readonly generation: number
  readonly settings: SessionSettings
  readonly decision: Omit<LimitDecision, 'actions'> & { readonly actions: readonly AnnouncedAction[] }
  /** Registered sessions that the session store no longer has. */
  readonly lost: readonly Token[]
  /** The user's live sessions in the same browser, which this login replaces. */
  readonly own: readonly Token[]
  /** Live sessions that the user chose to end. */
  readonly chosen: readonly Token[]
  /** All registered sessions at that version. */
  readonly registered: readonly StoredSession[]
  /** The sessions and the limit with which the login was compared. Undefined for exempt users. */
  readonly measured?: LimitContext
  /** The limit that the login has reached, and the mode that decided. */
  readonly reached?: DecidedLimit
  /** Sessions that must still be unused at the commit. */
  readonly unlessUsedWithin?: SessionChange['unlessUsedWithin']
}

const ADMIT: LimitDecision = { admit: true, end: [], actions: [] }
const NONE: readonly Token[] = []

/** Values to assume instead of the settings. */
export interface Assumption {
  readonly mode?: string | undefined
  readonly maximum?: number | undefined
}

/**
 * Decides on a login at this moment. Changes nothing.
 *
 * @param ignore Sessions that the login itself replaces.
 */
export async function evaluateLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  ignore: readonly Token[],
  assumed: Assumption = {},
): Promise<LoginEvaluation> {
  const { userId, device, ends = NONE, canAsk } = attempt
  const { store, hooks, settings, modes, labels } = context
  const [read, generation, current] = await Promise.all([
    store.sessions.read(userId),
    store.epoch.current(),
    settings.get(),
  ])
  const { sessions, version } = read
  const isOwn = ({ record }: StoredSession) => record.device === device && record.generation >= generation
  const own = device ? tokensOf(sessions.filter(isOwn)) : NONE
  const replaced = own.length === 0 ? ignore : [...ignore, ...own]
  const isCounted = ({ record }: StoredSession) =>
    record.generation >= generation && (replaced.length === 0 || !replaced.includes(record.token))
  const live = sessions.filter(isCounted)
  const chosen = ends.length === 0 ? NONE : tokensOf(live).filter((token) => ends.includes(token))
  const before = { version, generation, settings: current, registered: sessions, own, chosen }
  if (await verdictOf(hooks, 'sessmgr_bypass', false, userId)) return { ...before, decision: ADMIT, lost: NONE }

  const maximum = assumed.maximum ?? (await settings.maximumOf(userId, current))
  const group = labels && (await groupOf(labels, attempt, live))
  // A session that the session store has lost must not count. Below the limit, this makes no difference unless a
  // subscriber sets its own limit.
  const isAnyCount = hooks.hasFilter('sessmgr_reached_limit') || (group && group.tokens.length >= group.maximum)
  const enough = isAnyCount ? live.length : maximum
  const { held, lost } = live.length >= enough ? await verify(context, live, enough) : { held: live, lost: NONE }
  const records = recordsOf(held)
  const measured: LimitContext = {
    userId,
    maximum,
    sessions: records,
    chosen: records.filter(({ token }) => chosen.includes(token)),
    others: [],
    ...idleTime(context, current, read),
  }
  const strategy = modes.strategyOf(assumed.mode ?? current.logic)
  const reached = await decideByLimits(strategy, measured, group, (count) =>
    verdictOf(hooks, 'sessmgr_reached_limit', count >= maximum, userId, count),
  )
  if (!reached) return { ...before, decision: ADMIT, lost, measured }
  const decided = { ...reached, mode: strategy.id }
  const evaluation = { ...before, lost, measured, reached: decided }
  if (!(await isEnforced(context, current.enforce, userId))) {
    return { ...evaluation, decision: { ...ADMIT, actions: reportOf(decided, canAsk) } }
  }
  const { decision } = reached
  return { ...evaluation, decision, unlessUsedWithin: unusedSessions(decision, measured) }
}

/** Few applications have limits per label, so the code is loaded on demand. */
async function groupOf(labels: LabelLimits, attempt: LoginAttempt, live: readonly StoredSession[]) {
  const { labelGroup } = await import('./label-group.ts')
  return labelGroup(labels, attempt, recordsOf(live))
}

/**
 * Checks which sessions the session store still has, newest first. Stops once it has found `enough`, and assumes that
 * the others exist.
 */
async function verify({ hostSessions }: LimiterContext, sessions: readonly StoredSession[], enough: number) {
  const youngestFirst = sessions.toReversed()
  const answers = await heldSessions(hostSessions, youngestFirst, enough)
  const lost = tokensOf(youngestFirst.filter((_, index) => answers[index] === false))
  return { held: lost.length === 0 ? sessions : sessions.filter(({ record }) => !lost.includes(record.token)), lost }
}

function tokensOf(sessions: readonly StoredSession[]): readonly Token[] {
  return sessions.map(({ record }) => record.token)
}

function recordsOf(sessions: readonly StoredSession[]): readonly SessionRecord[] {
  return sessions.map(({ record }) => record)
}
