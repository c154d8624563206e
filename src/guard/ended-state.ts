import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { SignedOutReason } from '../sessions/session-end.ts'
import type { Token } from '../sessions/session-record.ts'
import type { GuardContext } from './guard-context.ts'
import type { EndedState } from './host-types.ts'

/** Adds what is known about the end of a session to the reason why it is over. */
export async function endedState(
  limiter: Pick<SessionLimiter, 'causeOf'>,
  token: Token,
  reason: SignedOutReason,
): Promise<EndedState> {
  const cause = await limiter.causeOf(token, reason)
  return cause ? { reason, cause } : { reason }
}

/** Returns how a session that is no longer in its store has ended. */
export async function lostState(guard: GuardContext, sessionId: string): Promise<EndedState> {
  const known = guard.endings.get(sessionId)
  if (known?.cause) return known
  const { reason } = known ?? { reason: 'missing' }
  // The session ended before it was deleted, so a note about its end must already exist.
  const asked = reason === 'ended' ? 'missing' : reason
  const found = { ...(await endedState(guard.limiter, guard.tokenFor(sessionId), asked)), reason }
  if (found.cause) guard.endings.set(sessionId, found)
  return found
}
