import type { UserId } from '../ground/user-id.ts'
import type { SignedOutReason } from '../sessions/session-end.ts'
import type { NewSession, StoredSession } from '../sessions/session-record.ts'
import { TOKEN_PATTERN, type Token, tokenOf } from '../sessions/token.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { AnnouncedAction } from './actions/announced-action.ts'
import { followUpEnd } from './follow-up-end.ts'
import type { LimiterContext } from './limiter-context.ts'

/** Whether a session is live. */
export type SessionVerdict =
  | { readonly live: true }
  | { readonly live: false; readonly reason: Exclude<SignedOutReason, 'missing'> }

/** Checks whether a registered session is still live. Changes nothing. */
export async function checkSession(
  { sessions, epoch }: Pick<SessmgrStore, 'sessions' | 'epoch'>,
  userId: UserId,
  token: Token,
): Promise<SessionVerdict> {
  const [own, current] = await Promise.all([sessions.generationOf(userId, token), epoch.current()])
  return verdictOn(own, current)
}

/** Checks the whole token, because a store may use only a part of it to identify a session of a user. */
export async function isRegistered(
  { sessions }: Pick<SessmgrStore, 'sessions'>,
  userId: UserId,
  token: unknown,
): Promise<boolean> {
  if (typeof token !== 'string' || !TOKEN_PATTERN.test(token)) return false
  return (await sessions.generationOf(userId, token)) !== undefined
}

/**
 * Registers a session from before sessmgr, and checks whether it is live.
 *
 * The session belongs to generation 0, so it is stale after any site-wide logout.
 */
export async function adoptSession(
  context: LimiterContext,
  userId: UserId,
  session: Omit<NewSession, 'generation'>,
): Promise<SessionVerdict> {
  const [adopted, current] = await Promise.all([
    context.store.sessions.adopt(userId, { ...session, generation: 0 }),
    context.store.epoch.current(),
  ])
  if (adopted?.isNew) {
    const how = { replaced: null, displaced: [], adopted: true }
    context.log?.note('session.started', adopted.record, how)
    context.announce([['sessmgr_session_started', adopted.record, how]])
  }
  return verdictOn(adopted?.record.generation, current)
}

/**
 * Ends a session that a site-wide logout made stale. Exactly one call per session fires the action, even across
 * processes.
 */
export async function invalidateSession(context: LimiterContext, userId: UserId, sessionId: string): Promise<void> {
  const token = tokenOf(sessionId)
  const { store, notes } = context
  // Also stored for each session, because another process may find it deleted without knowing that the logout has ended
  // it.
  const end = (await notes.endOf(token, 'logout_all')) ?? { kind: 'logout_all', at: Date.now() }
  const actionsOf = (ended: readonly StoredSession[]): readonly AnnouncedAction[] =>
    ended.map(({ record }) => ['sessmgr_session_invalidated', record.userId, record.token])
  await followUpEnd(context, store.sessions.end(userId, [token]), () => end, actionsOf)
}

function verdictOn(own: number | undefined, current: number): SessionVerdict {
  if (own === undefined) return { live: false, reason: 'ended' }
  return own < current ? { live: false, reason: 'logout_all' } : { live: true }
}
