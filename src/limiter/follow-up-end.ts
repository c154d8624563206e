import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord, StoredSession } from '../sessions/session-record.ts'
import { endedDespite } from '../sessions/unconfirmed-end.ts'
import type { AnnouncedAction } from './actions/announced-action.ts'
import type { LimiterContext } from './limiter-context.ts'

/**
 * Follows up on sessions that a store has ended: stores why they ended, closes their open connections, deletes them from
 * the session store, and fires the actions.
 *
 * The order matters: a request that finds a session deleted must also find the note, and so must a client whose
 * connection is closed. The follow-up also runs if the store fails after it has ended sessions, for example without a
 * replica's confirmation, because a retry would not find them.
 *
 * @param actionsOf Returns the actions to fire before `sessmgr_session_ended`.
 */
export async function followUpEnd(
  { notes, ends, discard, announce }: LimiterContext,
  ending: PromiseLike<readonly StoredSession[]> | readonly StoredSession[],
  endOf: (session: SessionRecord) => SessionEnd,
  actionsOf: (ended: readonly StoredSession[]) => readonly AnnouncedAction[],
): Promise<readonly StoredSession[]> {
  const followUp = async (ended: readonly StoredSession[]) => {
    await notes.remember(ended, endOf)
    ends.report(ended, endOf)
    await discard(ended)
    announce([...actionsOf(ended), ...endedActions(ended, endOf)])
    return ended
  }
  try {
    return await followUp(await ending)
  } catch (error) {
    const ended = endedDespite(error)
    if (ended) await followUp(ended)
    throw error
  }
}

/** Returns the actions that report specific sessions. */
export function namedActions(ended: readonly StoredSession[]): readonly AnnouncedAction[] {
  return ended.map(({ record }) => ['sessmgr_destroy_session', record.userId, record.token])
}

/** Returns the actions that report the end of sessions. */
export function endedActions(
  ended: readonly StoredSession[],
  endOf: (session: SessionRecord) => SessionEnd,
): readonly AnnouncedAction[] {
  return ended.map(({ record }) => ['sessmgr_session_ended', record, endOf(record)])
}
