import { isCurrent, type NewSession, type Token, tokenOf } from '../../sessions/session-record.ts'
import { type CommitResult, MOST_SESSIONS } from '../../sessions/session-registry.ts'
import type { LimiterContext } from '../limiter-context.ts'
import type { LoginAttempt, LoginEvaluation } from './evaluate-login.ts'

/** The new session of a login. */
export interface EstablishedSession extends Pick<NewSession, 'sessionId' | 'ttlMs' | 'takenUp' | 'provedAt'> {
  /** Undoes the session, as if the login had not happened. */
  revert(): Promise<void>
}

/** A login that the registry has committed. */
export type Committed = Extract<CommitResult, { readonly committed: true }>

/**
 * Registers the session of a login and ends others, as decided. Resolves to undefined if the user's sessions have
 * changed since.
 *
 * The epoch is read in the turn of the write. If a site-wide logout has come first, registers the session again, in its
 * generation. If that fails, the session stays stale, as if the logout had come later.
 */
export async function commitLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  { sessionId, ttlMs, takenUp, provedAt }: EstablishedSession,
  evaluation: LoginEvaluation,
): Promise<Committed | undefined> {
  const { userId, ip = null, userAgent = null, device = null } = attempt
  const { version, epoch: assumed, decision, lost, chosen, unlessUsedWithin } = evaluation
  const { sessions, epoch } = context.store
  // Some frameworks keep the session id at login. That session must not be ended.
  const left = replacedBy(attempt, evaluation).filter((token) => token !== tokenOf(sessionId))
  const leaving = [...decision.end.map(({ token }) => token), ...chosen, ...lost, ...left]
  const end = [...leaving, ...staleBeyondBound(evaluation, leaving)]
  const admit = { sessionId, ttlMs, ip, userAgent, device, generation: assumed.generation, takenUp, provedAt }
  const [result, current] = await Promise.all([
    sessions.commit(userId, version, { admit, end, unlessUsedWithin }),
    epoch.current().catch(() => assumed),
  ])
  if (!result.committed) return undefined
  if (isCurrent(current, result.admitted.record)) return result
  // At this version, no other login has been admitted since, so the limit still holds.
  const change = { admit: { ...admit, generation: current.generation }, end: [] }
  const again = await sessions.commit(userId, result.version, change).catch(() => undefined)
  return again?.committed ? { ...result, admitted: again.admitted, version: again.version } : result
}

/**
 * Returns the stale sessions that must end so that the registry has room for a new one. Otherwise, the registry would
 * end the oldest sessions, which may be live.
 */
function staleBeyondBound({ registered, epoch }: LoginEvaluation, end: readonly Token[]): readonly Token[] {
  if (registered.length < MOST_SESSIONS) return []
  const left = registered.filter(({ record }) => !end.includes(record.token))
  const stale = left.filter(({ record }) => !isCurrent(epoch, record)).map(({ record }) => record.token)
  return stale.slice(0, Math.max(0, left.length + 1 - MOST_SESSIONS))
}

/** Returns the tokens of the browser's own sessions, which a login replaces. */
export function replacedBy({ replaces }: LoginAttempt, { own }: LoginEvaluation): readonly Token[] {
  return replaces === undefined ? own : [tokenOf(replaces), ...own]
}
