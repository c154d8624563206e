import { signedOutMeanwhile } from '../../auth/erasures.ts'
import { type Token, tokenOf } from '../../sessions/session-record.ts'
import { type CommitResult, MOST_SESSIONS } from '../../sessions/session-registry.ts'
import type { LimiterContext } from '../limiter-context.ts'
import type { LoginAttempt, LoginEvaluation } from './evaluate-login.ts'

/**
 * Maximum length of an address, longer than any real one. Clients can forge it if too many proxies are trusted.
 */
const ADDRESS_LENGTH = 64
const USER_AGENT_LENGTH = 512

/** The new session of a login. */
export interface EstablishedSession {
  readonly sessionId: string
  /** Milliseconds until the session expires. */
  readonly ttlMs: number
  /** Lifetime in milliseconds once the response has saved the session. @default ttlMs */
  readonly lifeMs?: number
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
  { sessionId, ttlMs }: EstablishedSession,
  evaluation: LoginEvaluation,
): Promise<Committed | undefined> {
  const { userId, continues, device } = attempt
  const { version, generation, decision, lost, chosen, unlessUsedWithin } = evaluation
  // Some frameworks keep the session id at login. That session must not be ended.
  const left = replacedBy(attempt, evaluation).filter((token) => token !== tokenOf(sessionId))
  const leaving = [...decision.end.map(({ token }) => token), ...chosen, ...lost, ...left]
  const end = [...leaving, ...staleBeyondBound(evaluation, leaving)]
  const admit = {
    sessionId,
    ttlMs,
    ...clientOf(attempt),
    device: device ?? null,
    generation,
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

/** Returns the address and user agent of a login, cut to their maximum lengths. */
export function clientOf({ ip, userAgent }: LoginAttempt) {
  return { ip: ip?.slice(0, ADDRESS_LENGTH) ?? null, userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null }
}
