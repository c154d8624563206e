import { signedOutMeanwhile } from '../../auth/erasures.ts'
import { type Token, tokenOf } from '../../sessions/session-record.ts'
import { type CommitResult, MOST_SESSIONS } from '../../sessions/session-registry.ts'
import type { LimiterContext } from '../limiter-context.ts'
import type { LoginAttempt, LoginEvaluation } from './evaluate-login.ts'

/** The new session of a login. */
export interface EstablishedSession {
  readonly sessionId: string
  /** Milliseconds until the session expires. */
  readonly ttlMs: number
  /** Whether it is sure that the client has the session, as in `StoredSession`. @default true */
  readonly takenUp?: boolean | undefined
  /** Undoes the session, as if the login had not happened. */
  revert(): Promise<void>
}

/** A login that the registry has committed. */
export type Committed = Extract<CommitResult, { readonly committed: true }>

/**
 * Registers the session of a login and ends others, as decided. Resolves to undefined if the user's sessions have
 * changed since.
 */
export async function commitLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  { sessionId, ttlMs, takenUp }: EstablishedSession,
  evaluation: LoginEvaluation,
): Promise<Committed | undefined> {
  const { userId, continues, ip = null, userAgent = null, device = null } = attempt
  const { version, generation, decision, lost, chosen, unlessUsedWithin } = evaluation
  // Some frameworks keep the session id at login. That session must not be ended.
  const left = replacedBy(attempt, evaluation).filter((token) => token !== tokenOf(sessionId))
  const leaving = [...decision.end.map(({ token }) => token), ...chosen, ...lost, ...left]
  const end = [...leaving, ...staleBeyondBound(evaluation, leaving)]
  const admit = {
    sessionId,
    ttlMs,
    ip,
    userAgent,
    device,
    generation,
    takenUp,
  }
  const result = await context.store.sessions.commit(userId, version, {
    admit,
    end,
    continues,
    unlessUsedWithin,
  })
  if (!result.committed && result.isOver) throw signedOutMeanwhile()
  return result.committed ? result : undefined
}

/**
 * Returns the stale sessions that must end so that the registry has room for a new one. Otherwise, the registry would
 * end the oldest sessions, which may be live.
 */
function staleBeyondBound({ registered, generation }: LoginEvaluation, end: readonly Token[]): readonly Token[] {
  if (registered.length < MOST_SESSIONS) return []
  const left = registered.filter(({ record }) => !end.includes(record.token))
  const stale = left.filter(({ record }) => record.generation < generation).map(({ record }) => record.token)
  return stale.slice(0, Math.max(0, left.length + 1 - MOST_SESSIONS))
}

/** Returns the tokens of the browser's own sessions, which a login replaces. */
export function replacedBy({ replaces }: LoginAttempt, { own }: LoginEvaluation): readonly Token[] {
  return replaces === undefined ? own : [tokenOf(replaces), ...own]
}
