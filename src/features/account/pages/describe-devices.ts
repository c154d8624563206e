import { withDeadline } from '../../../ground/deadline.ts'
import { pageDevice } from '../../../pages/page-device.ts'
import type { SessionRecord } from '../../../sessions/session-record.ts'
import { longestUnusedFirst } from '../../../strategies/slots.ts'
import { readerTimes } from '../../../texts/reader-times.ts'
import type { Say } from '../../../texts/texts-for.ts'
import type { AccountDevices, AccountRow } from '../account-view.ts'
import type { OwnList } from '../own-sessions.ts'
import type { ResolvedAccountOptions } from '../resolve-account-options.ts'
import type { PageResult } from './page-result.ts'

/** Maximum number of sessions on a page. */
const PAGE_SIZE = 50
const UNUSED_MS = 30 * 86_400_000
const LOCATION_MS = 1000

/** Where a list is shown, and in which language. */
export interface DescribeParts {
  readonly base: string
  readonly page: number
  readonly say: Say
  readonly show: ResolvedAccountOptions['show']
  readonly result: PageResult | undefined
}

/** Prepares one page of a user's sessions for display. */
export async function describeDevices(list: OwnList, parts: DescribeParts): Promise<AccountDevices> {
  const { base, say, result } = parts
  const { sessions, current, maximum } = list
  const others = sessions.filter((record) => record !== current)
  const last = Math.max(1, Math.ceil(others.length / PAGE_SIZE))
  const page = Math.min(parts.page, last)
  const now = Date.now()
  const timesOf = readerTimes(say, now)
  const next = nextToEnd(list)

  const rowOf = async (record: SessionRecord): Promise<AccountRow> => ({
    token: record.token,
    ...(await pageDevice(record, say)),
    isCurrent: record === current,
    signedIn: timesOf(record.createdAt),
    used: timesOf(record.lastSeenAt),
    place: await placeOf(record, parts.show.location),
    ip: (parts.show.ip && record.ip) || undefined,
    isSameBrowser: record !== current && record.device !== null && record.device === current?.device,
    isNext: record === next,
  })
  const shown = others.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const isUnused = (record: SessionRecord) => now - record.lastSeenAt > UNUSED_MS
  const [own, recent, unused] = await Promise.all([
    current && rowOf(current),
    Promise.all(shown.filter((record) => !isUnused(record)).map(rowOf)),
    Promise.all(shown.filter(isUnused).map(rowOf)),
  ])
  return {
    current: own,
    others: recent,
    unused,
    count: sessions.length,
    maximum,
    result,
    confirmUrl: others.length > 0 ? `${base}?confirm` : undefined,
    nextUrl: page < last ? `${base}?page=${page + 1}` : undefined,
    previousUrl: page > 1 ? `${base}${page > 2 ? `?page=${page - 1}` : ''}` : undefined,
  }
}

/** Returns the session that the next login ends first. */
function nextToEnd({ sessions, maximum, logic }: OwnList): SessionRecord | undefined {
  if (maximum === null || sessions.length < maximum) return undefined
  if (logic === 'logout_idlest') return longestUnusedFirst({ sessions, others: [] })[0]
  if (logic !== 'logout_oldest') return undefined
  return sessions.reduce((one, other) => (other.sequence < one.sequence ? other : one))
}

/** Asks the application for a location. If that fails, the page is shown without it. */
async function placeOf(
  record: SessionRecord,
  location: ResolvedAccountOptions['show']['location'],
): Promise<string | undefined> {
  if (!location) return undefined
  try {
    const found = Promise.resolve(location(record))
    return (await withDeadline(found, LOCATION_MS, () => new Error('too slow'))) || undefined
  } catch {
    return undefined
  }
}
