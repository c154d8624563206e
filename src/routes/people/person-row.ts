import * as z from 'zod/mini'
import { unixSeconds } from '../../ground/clock.ts'
import { type EXACT_KINDS, exactDevice } from '../../sessions/exact-device.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { RouteParts } from '../sessions/route-parts.ts'
import { personSchema } from '../sessions/user-parameter.ts'
import type { CheckedPerson } from './people-page.ts'

type Kind = (typeof EXACT_KINDS)[number]

/** Names of the numbers of devices. */
const COUNTED = {
  computer: 'computers',
  phone: 'phones',
  tablet: 'tablets',
  tv: 'tvs',
  program: 'programs',
  unknown: 'unknown',
} as const satisfies Record<Kind, string>

type Devices = Record<(typeof COUNTED)[Kind], number>

/** Schema of a person who is signed in. Times are Unix seconds. */
export const personRowSchema = z.object({
  user: personSchema,
  live: z.int(),
  maximum: z.optional(z.nullable(z.int())),
  over: z.boolean(),
  devices: z.object({
    computers: z.int(),
    phones: z.int(),
    tablets: z.int(),
    tvs: z.int(),
    programs: z.int(),
    unknown: z.int(),
  }),
  last_seen: z.int(),
  signed_in: z.int(),
  ip: z.nullable(z.string()),
  place: z.nullable(z.string()),
})

export type PersonRow = z.infer<typeof personRowSchema>

/** Returns rows of people who are signed in. The address is that of the session that was used last. */
export async function personRows(
  { details, findSignedIn }: Pick<RouteParts, 'details' | 'findSignedIn'>,
  people: readonly CheckedPerson[],
): Promise<readonly PersonRow[]> {
  const last = people.map(({ live }) => live.reduce((one, other) => (other.lastSeenAt > one.lastSeenAt ? other : one)))
  const places = await details.placesOf(last.map(({ ip }) => ip))
  return Promise.all(
    people.map(async ({ userId, live, maximum }, index): Promise<PersonRow> => {
      const user = await details.userBy(() => findSignedIn(userId))
      const { lastSeenAt, ip } = last[index] as SessionRecord
      return {
        // A deleted user may still be signed in, and the application may fail.
        user:
          user === undefined ? { id: userId, login: String(userId), display_name: '' } : await details.personOf(user),
        live: live.length,
        ...(maximum !== undefined && { maximum }),
        over: typeof maximum === 'number' && live.length > maximum,
        devices: await devicesOf(live),
        last_seen: unixSeconds(lastSeenAt),
        signed_in: unixSeconds(Math.max(...live.map(({ createdAt }) => createdAt))),
        ip,
        place: places[index] ?? null,
      }
    }),
  )
}

async function devicesOf(live: readonly SessionRecord[]): Promise<Devices> {
  const devices: Devices = { computers: 0, phones: 0, tablets: 0, tvs: 0, programs: 0, unknown: 0 }
  for (const { userAgent } of live) devices[COUNTED[(await exactDevice(userAgent, '')).kind]] += 1
  return devices
}
