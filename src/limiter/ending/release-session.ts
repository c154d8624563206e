import type { UserId } from '../../ground/user-id.ts'
import type { SessionEnd } from '../../sessions/session-end.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { Token } from '../../sessions/token.ts'
import { endedActions } from '../follow-up-end.ts'
import type { LimiterContext } from '../limiter-context.ts'

/** Frees the slot of a session that the framework has ended. Resolves to true if the session was live until then. */
export async function releaseSession(
  { store, ends, announce }: LimiterContext,
  userId: UserId,
  token: Token,
): Promise<boolean> {
  const [ended, current] = await Promise.all([store.sessions.end(userId, [token]), store.epoch.current()])
  const isCurrent = ({ generation }: SessionRecord) => generation >= current
  const at = Date.now()
  const endOf = (session: SessionRecord): SessionEnd => ({ kind: isCurrent(session) ? 'signed_out' : 'logout_all', at })
  ends.report(ended, endOf)
  announce(endedActions(ended, endOf))
  return ended.some(({ record }) => isCurrent(record))
}
