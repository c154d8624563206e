import type { StoredSession } from '../sessions/session-record.ts'
import { endedDespite } from '../sessions/unconfirmed-end.ts'
import type { AnnouncedAction, LimiterContext } from './limiter-context.ts'

/**
 * Deletes sessions that a store has ended from the session store, and fires the actions.
 *
 * Also if the store fails after it has ended sessions, for example without a replica's confirmation: a retry would not
 * find them.
 */
export async function followUpEnd(
  { discard, announce }: LimiterContext,
  ending: Promise<readonly StoredSession[]>,
  actionsOf: (ended: readonly StoredSession[]) => readonly AnnouncedAction[],
): Promise<readonly StoredSession[]> {
  const followUp = async (ended: readonly StoredSession[]) => {
    await discard(ended)
    announce(actionsOf(ended))
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
