import type { StoredSession } from '../sessions/session-record.ts'
import { endedDespite } from '../sessions/unconfirmed-end.ts'
import type { AnnouncedAction, LimiterContext } from './limiter-context.ts'

/**
 * Deletes what a store has ended from the host's store, and announces it.
 *
 * Also where the store reports a failure after it has ended sessions, as when no replica confirms it: a retry would not
 * find them any more.
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
