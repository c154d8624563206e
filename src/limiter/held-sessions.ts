import type { StoredSession } from '../sessions/session-record.ts'
import type { HostSessions } from '../sessions/session-registry.ts'
import { inBatches } from './in-batches.ts'

/**
 * Checks, in order, which of these sessions the session store still has, until `enough` are found.
 *
 * Resolves to one result for each session that was checked.
 */
export function heldSessions(
  host: HostSessions,
  sessions: readonly StoredSession[],
  enough: number,
): Promise<readonly boolean[]> {
  return inBatches(
    sessions.map(({ sessionId }) => sessionId),
    async (ids) => {
      const holdsAll = ids.length > 1 && (await host.holdsAll?.(ids))
      return holdsAll ? ids.map(() => true) : Promise.all(ids.map((id) => host.exists(id)))
    },
    (answers) => answers.filter(Boolean).length >= enough,
  )
}
