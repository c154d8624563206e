import * as z from 'zod/mini'
import { unixSeconds } from '../../ground/clock.ts'
import { EXACT_KINDS, exactDevice } from '../../sessions/exact-device.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { Caller } from '../caller.ts'
import type { RouteParts } from './route-parts.ts'

/** Schema of a session. Times are Unix seconds. */
export const sessionRowSchema = z.object({
  token: z.string(),
  created: z.int(),
  last_seen: z.int(),
  expires: z.int(),
  ip: z.nullable(z.string()),
  place: z.nullable(z.string()),
  user_agent: z.nullable(z.string()),
  device: z.object({ name: z.nullable(z.string()), kind: z.enum(EXACT_KINDS) }),
  same_browser: z.nullable(z.string()),
  current: z.boolean(),
})

export type SessionRow = z.infer<typeof sessionRowSchema>

/**
 * Returns rows of a user's sessions.
 *
 * @param reader `pattern`: how a browser and a system are named together.
 */
export async function sessionRows(
  { details }: Pick<RouteParts, 'details'>,
  records: readonly SessionRecord[],
  { caller, pattern }: { caller: Caller | undefined; pattern: string },
): Promise<readonly SessionRow[]> {
  const places = await details.placesOf(records.map(({ ip }) => ip))
  const devices = await Promise.all(records.map(({ userAgent }) => exactDevice(userAgent, pattern)))
  /** The last session of each browser so far. */
  const latest = new Map<string, string>()
  return records.map((record, index) => {
    const sameBrowser = record.device ? latest.get(record.device) : undefined
    if (record.device) latest.set(record.device, record.token)
    return {
      token: record.token,
      created: unixSeconds(record.createdAt),
      last_seen: unixSeconds(record.lastSeenAt),
      expires: unixSeconds(record.expiresAt),
      ip: record.ip,
      place: places[index] ?? null,
      user_agent: record.userAgent,
      device: devices[index] as SessionRow['device'],
      same_browser: sameBrowser ?? null,
      current: record.token === caller?.token,
    }
  })
}
