import { pageDevice } from '../../../pages/page-device.ts'
import type { SessionRecord } from '../../../sessions/session-record.ts'
import { readerTimes } from '../../../texts/reader-times.ts'
import type { Say } from '../../../texts/texts-for.ts'
import type { OpenChoice } from '../choice-outcome.ts'
import type { ChoiceDevices, ChoiceRow } from '../choice-view.ts'

const UNUSED_MS = 7 * 86_400_000

/** How sessions are shown. */
export interface DescribeParts {
  readonly say: Say
  readonly showsIp: boolean
  /** The setting `idle_release` in milliseconds; 0 is off. */
  readonly idleMs: number
}

/** Prepares what the user has to choose for display. Resolves to undefined if there is nothing to choose. */
export async function describeChoice(
  { choice, chosen, problem, login }: OpenChoice,
  { say, showsIp, idleMs }: DescribeParts,
): Promise<ChoiceDevices | undefined> {
  if (!choice) return undefined
  const now = Date.now()
  const timesOf = readerTimes(say, now)
  const rowOf = async (record: SessionRecord): Promise<ChoiceRow> => ({
    token: record.token,
    ...(await pageDevice(record, say)),
    signedIn: timesOf(record.createdAt),
    used: timesOf(record.lastSeenAt),
    ip: (showsIp && record.ip) || undefined,
    isUnused: now - record.lastSeenAt > (idleMs || UNUSED_MS),
    isChosen: chosen.includes(record.token),
  })
  const longestUnusedFirst = choice.sessions.toSorted(
    (one, other) => one.lastSeenAt - other.lastSeenAt || one.sequence - other.sequence,
  )
  const { need, maximum } = choice
  const minutes = Math.max(1, Math.ceil((login.expiresAt - now) / 60_000))
  return { rows: await Promise.all(longestUnusedFirst.map(rowOf)), need, maximum, problem, minutes }
}
