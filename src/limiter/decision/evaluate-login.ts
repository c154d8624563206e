import type { StoredSession } from '../../sessions/session-record.ts'
import type { SessionChange } from '../../sessions/session-registry.ts'
import type { Token } from '../../sessions/token.ts'
import type { LimitContext, LimitDecision } from '../../strategies/limit-strategy.ts'
import { heldSessions } from '../held-sessions.ts'
import type { AnnouncedAction, LimiterContext } from '../limiter-context.ts'
import { idleTime, unusedSessions } from './idle-time.ts'
import type { LoginAttempt } from './login-attempt.ts'
import { isEnforced, reportOf } from './report-only.ts'
import { verdictOf } from './verdict-of.ts'

/** A decision on a login, valid while the user's sessions stay at `version`. */
export interface LoginEvaluation {
  readonly version: string
  readonly generation: number
  readonly decision: Omit<LimitDecision, 'actions'> & { readonly actions: readonly AnnouncedAction[] }
  /** Registered sessions that the session store no longer has. */
  readonly lost: readonly Token[]
  /** Live sessions of the user in the browser of this login, which replaces them. */
  readonly own: readonly Token[]
  /** Live sessions that the user chose to end. */
  readonly chosen: readonly Token[]
  /** All registered sessions at that version. */
  readonly registered: readonly StoredSession[]
  /** What the mode based its decision on. Undefined if the limit was not reached. */
  readonly reached?: LimitContext & { readonly mode: string }
  /** Sessions that must still be unused at the commit. */
  readonly unlessUsedWithin?: SessionChange['unlessUsedWithin']
}

const ADMIT: LimitDecision = { admit: true, end: [], actions: [] }
const NONE: readonly Token[] = []

/**
 * Decides on a login at this moment. Changes nothing.
 *
 * @param ignore Sessions that the login itself replaces.
 */
export async function evaluateLogin(
  context: LimiterContext,
  { userId, device, ends = NONE, canAsk }: LoginAttempt,
  ignore: readonly Token[],
): Promise<LoginEvaluation> {
  const { store, hooks, settings, modes } = context
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
  const before = { version, generation, registered: sessions, own, chosen }
  if (await verdictOf(hooks, 'sessmgr_bypass', false, userId)) return { ...before, decision: ADMIT, lost: NONE }

  const maximum = await settings.maximumOf(userId, current)
  // A session that the session store has lost must not count. Below the limit, this makes no difference unless a
  // subscriber sets its own limit.
  const enough = hooks.hasFilter('sessmgr_reached_limit') ? live.length : maximum
  const { held, lost } = live.length >= enough ? await verify(context, live, enough) : { held: live, lost: NONE }
  const count = held.length
  const isReached = await verdictOf(hooks, 'sessmgr_reached_limit', count >= maximum, userId, count)
  if (!isReached) return { ...before, decision: ADMIT, lost }
  const strategy = modes.strategyOf(current.logic)
  const records = held.map(({ record }) => record)
  const given: LimitContext = {
    userId,
    maximum,
    sessions: records,
    chosen: records.filter(({ token }) => chosen.includes(token)),
    ...idleTime(context, current, read),
  }
  const decided = strategy.decide(given)
  const limit = { mode: strategy.id, maximum, live: count }
  if (!(await isEnforced(context, current.enforce, userId))) {
    return { ...before, decision: { ...ADMIT, actions: reportOf(userId, decided, limit, canAsk) }, lost }
  }
  const unlessUsedWithin = unusedSessions(decided, given)
  return { ...before, decision: decided, lost, unlessUsedWithin, reached: { mode: strategy.id, ...given } }
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
