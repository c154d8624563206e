import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord, StoredSession } from '../sessions/session-record.ts'
import { endedDespite } from '../sessions/unconfirmed-end.ts'
import type { AnnouncedAction, LimiterContext } from './limiter-context.ts'

/**
 * Follows up sessions that a store has ended: notes why, deletes them from the session store, and fires the actions.
 *
 * In this order, so that a request that finds a session deleted also finds the note. Also if the store fails after it has
 * ended sessions, for example without a replica's confirmation: a retry would not find them.
 *
 * @param actionsOf Returns the actions that come before `sessmgr_session_ended`.
 */
export async function followUpEnd(
  { notes, discard, announce }: LimiterContext,
  ending: PromiseLike<readonly StoredSession[]> | readonly StoredSession[],
  endOf: (session: SessionRecord) => SessionEnd,
  actionsOf: (ended: readonly StoredSession[]) => readonly AnnouncedAction[],
): Promise<readonly StoredSession[]> {
  const followUp = async (ended: readonly StoredSession[]) => {
    await notes.remember(ended, endOf)
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

/** Returns the actions that tell of the end of sessions. */
export function endedActions(
  ended: readonly StoredSession[],
  endOf: (session: SessionRecord) => SessionEnd,
): readonly AnnouncedAction[] {
  return ended.map(({ record }) => ['sessmgr_session_ended', record, endOf(record)])
}
