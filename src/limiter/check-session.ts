import type { UserId } from '../host/user-id.ts'
import type { NewSession, SessionRecord, StoredSession } from '../sessions/session-record.ts'
import { type Token, tokenOf } from '../sessions/token.ts'
import type { LimiterContext } from './limiter-context.ts'

/** Why a session is over: it was ended or displaced, or the site-wide logout caught it. */
export type EndedReason = 'ended' | 'logout_all'

/** What a session is worth now. */
export type SessionVerdict =
  | { readonly live: true; readonly session: SessionRecord }
  | { readonly live: false; readonly reason: EndedReason }

/** Tells whether a registered session is still live. Changes nothing. */
export async function checkSession(context: LimiterContext, userId: UserId, token: Token): Promise<SessionVerdict> {
  const [stored, generation] = await Promise.all([
    context.store.sessions.find(userId, token),
    context.store.epoch.current(),
  ])
  return verdictOn(stored, generation)
}

/**
 * Registers a session that was there before the service, and tells whether it is live.
 *
 * It belongs to generation 0: after any site-wide logout it is stale.
 */
export async function adoptSession(
  context: LimiterContext,
  userId: UserId,
  session: Omit<NewSession, 'generation'>,
): Promise<SessionVerdict> {
  const [stored, generation] = await Promise.all([
    context.store.sessions.adopt(userId, { ...session, generation: 0 }),
    context.store.epoch.current(),
  ])
  return verdictOn(stored, generation)
}

/** Ends a session that the logout epoch has made stale. Over all processes, exactly one call for it fires the action. */
export async function invalidateSession(context: LimiterContext, userId: UserId, sessionId: string): Promise<void> {
  const ended = await context.store.sessions.end(userId, [tokenOf(sessionId)])
  await context.discard(ended)
  context.announce(ended.map(({ record }) => ['sessmgr_session_invalidated', record.userId, record.token] as const))
}

function verdictOn(stored: StoredSession | undefined, generation: number): SessionVerdict {
  if (!stored) return { live: false, reason: 'ended' }
  if (stored.record.generation < generation) return { live: false, reason: 'logout_all' }
  return { live: true, session: stored.record }
}
