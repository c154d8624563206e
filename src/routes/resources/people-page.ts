import * as z from 'zod/mini'
import { unixSeconds } from '../../ground/clock.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { UserLimit } from '../../limiter/decision/refusals.ts'
import type { Directory } from '../../limiter/directory.ts'
import { A_MAXIMUM, isMaximum, numberOfDigits, type SessionSettings } from '../../options/setting-rules.ts'
import { type EXACT_KINDS, exactDevice } from '../../sessions/device.ts'
import type { IndexedPerson } from '../../sessions/people-index.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import { badQuery, RestError } from '../answer.ts'
import { countPlaces, whereabouts } from './host-details.ts'
import { countedIn, once, personSchema, type RouteParts, shownLimit, userLimit } from './route-parts.ts'

/** How many people one call checks, and how often it reads the index, at most. */
const MOST_LOOKED_AT = 500
const MOST_READS = 20
const IDLE_MS = 30 * 24 * 60 * 60_000
/** A session used within this time counts as in use. Two uses within this time count as simultaneous. */
export const AT_ONCE_MS = 15 * 60_000

/** The filters of the list of people. */
const SHOWN = ['all', 'at_limit', 'over_limit', 'used', 'places', 'idle', 'programs'] as const

const SORTS = ['recent', 'most', 'places'] as const

/** A number of sessions, in a query. */
const maximum = once.check(
  z.refine((text) => isMaximum(numberOfDigits(text)), `must be ${A_MAXIMUM}`),
  z.describe(A_MAXIMUM),
)

/** Parameters that select people. */
export const selection = {
  show: z.optional(z.enum(SHOWN, `must be one of ${SHOWN.join(', ')}`)),
  sort: z.optional(z.enum(SORTS, `must be one of ${SORTS.join(', ')}`)),
  than: z.optional(maximum),
}

export interface SelectionParameters {
  readonly show?: PeopleSelection['show']
  readonly sort?: PeopleSelection['sort']
  readonly than?: string
}

/** Returns the selection that the parameters of a call describe. */
export function selectionOf({ show = 'all', sort = 'recent', than }: SelectionParameters): PeopleSelection {
  return { show, sort, than: than === undefined ? undefined : Number(than) }
}

export interface PeopleSelection {
  readonly show: (typeof SHOWN)[number]
  readonly sort: (typeof SORTS)[number]
  /** With `over_limit`, the number of sessions that a person has to exceed, instead of their own maximum. */
  readonly than?: number | undefined
  readonly cursor?: string | undefined
}

/** A person whose sessions were just read. */
interface CheckedPerson {
  readonly userId: UserId
  readonly live: readonly SessionRecord[]
  /** Undefined if a filter of the application failed. */
  readonly limit: UserLimit | undefined
}

/** Dependencies for listing people. */
export type PageParts = Pick<RouteParts, 'limiter' | 'details'>

interface PeoplePage {
  readonly people: readonly CheckedPerson[]
  readonly next?: string
  /** False if the page may be incomplete, because one call checks only a limited number of people. */
  readonly exact: boolean
}

/**
 * Returns the directory.
 *
 * @throws RestError 404 `no_directory`.
 */
export async function requireDirectory({ limiter }: Pick<RouteParts, 'limiter'>): Promise<Directory> {
  if (limiter.directory) return limiter.directory
  const message = 'There is no list of people. Set directory to true, with a store that has an index of people.'
  throw new RestError(404, 'no_directory', message)
}

/**
 * Lists people who are signed in. Each is checked against the session registry; those without live sessions are left
 * out, and removed from the index.
 *
 * @param given The current settings, if the caller has already read them.
 * @throws RestError 404 `no_directory`, 400 `rest_invalid_param` for an invalid cursor.
 */
export async function peoplePage(
  parts: PageParts,
  selected: PeopleSelection,
  limit: number,
  given?: SessionSettings,
): Promise<PeoplePage> {
  const { sort, cursor: start } = selected
  if (sort === 'places') return peopleByPlaces(parts, selected, limit, given)
  const directory = await requireDirectory(parts)
  const settings = given ?? (await parts.limiter.settings.get())
  const least = sort === 'most' ? leastOf(parts, selected, settings) : 0
  const people: CheckedPerson[] = []
  let cursor = start
  let looked = 0
  for (let reads = 0; people.length < limit && reads < MOST_READS && looked < MOST_LOOKED_AT; reads += 1) {
    // Never read more than can be shown, because the next page can only start where a page of the index ends.
    const most = Math.min(limit - people.length, MOST_LOOKED_AT - looked)
    const page = await readIndex(directory, sort, most, cursor)
    const checked = await checkAll(parts, directory, page.people, settings)
    const shown = await Promise.all(checked.map((person) => isShown(parts, person, selected)))
    people.push(...checked.filter((_, index) => shown[index]))
    looked += page.people.length
    cursor = page.next
    if (cursor === undefined || (page.people.at(-1)?.live ?? 0) < least) return { people, exact: true }
  }
  return { people, exact: people.length === limit, ...(cursor !== undefined && { next: cursor }) }
}

/**
 * Lists people by the number of their places. Reads people with the most sessions, because each place needs a session.
 */
async function peopleByPlaces(
  parts: PageParts,
  { cursor, ...selected }: PeopleSelection,
  limit: number,
  given?: SessionSettings,
): Promise<PeoplePage> {
  if (cursor !== undefined && !/^\d{1,3}$/.test(cursor)) throw badQuery({ cursor: NO_CURSOR })
  const found = await peoplePage(parts, { ...selected, sort: 'most' }, MOST_LOOKED_AT, given)
  const counted = await Promise.all(
    found.people.map(async (person) => ({ person, count: await placesOf(parts, person.live) })),
  )
  const sorted = counted.toSorted((one, other) => other.count - one.count)
  const start = Number(cursor ?? 0)
  const end = start + limit
  const people = sorted.slice(start, end).map(({ person }) => person)
  return { people, exact: found.next === undefined, ...(end < sorted.length && { next: String(end) }) }
}

/** Counts the distinct places of sessions. */
const placesOf = ({ details }: Pick<PageParts, 'details'>, live: readonly SessionRecord[]) =>
  countPlaces(
    details,
    live.map(({ ip }) => ip),
  )

const NO_CURSOR = 'must be the `next` of a page'

/** Reads the sessions of people, and corrects the index where it differs. */
async function checkAll(
  parts: PageParts,
  directory: Directory,
  people: readonly IndexedPerson[],
  settings: SessionSettings,
): Promise<readonly CheckedPerson[]> {
  const checked = await Promise.all(
    people.map(async ({ userId }) => {
      const live = await parts.limiter.sessions.list(userId)
      const limit = live.length === 0 ? undefined : await userLimit(parts.limiter, userId, settings)
      return { userId, live, limit }
    }),
  )
  directory.correct(
    people.flatMap((person, index) => {
      const live = checked[index]?.live.length ?? 0
      return live === person.live ? [] : { ...person, live }
    }),
  )
  return checked.filter(({ live }) => live.length > 0)
}

async function readIndex(directory: Directory, sort: 'recent' | 'most', limit: number, cursor?: string) {
  try {
    return await directory.page({ sort, limit, cursor })
  } catch (error) {
    if (!(error instanceof SessmgrError) || error.code !== 'invalid_option') throw error
    throw badQuery({ cursor: NO_CURSOR })
  }
}

/** Returns how many sessions a person needs to be shown, or 0 if unknown, for example with a maximum per user. */
function leastOf({ limiter }: PageParts, { show, than }: PeopleSelection, { maximum }: SessionSettings) {
  if (show === 'places') return 2
  if (than !== undefined && show === 'over_limit') return than + 1
  if (limiter.hooks.hasFilter('sessmgr_maximum')) return 0
  return show === 'at_limit' ? maximum : show === 'over_limit' ? maximum + 1 : 0
}

async function isShown(parts: PageParts, person: CheckedPerson, { show, than }: PeopleSelection): Promise<boolean> {
  const { live, limit } = person
  if (show === 'all') return true
  if (show === 'used') return live.some(({ lastSeenAt }) => lastSeenAt >= Date.now() - AT_ONCE_MS)
  if (show === 'places') return isInPlacesAtOnce(parts, live)
  if (show === 'idle') return live.every(({ lastSeenAt }) => lastSeenAt < Date.now() - IDLE_MS)
  if (show === 'programs') return hasProgram(live)
  return show === 'at_limit' ? isAtLimit(person, 0) : countedIn(live) > (than ?? limit?.maximum ?? live.length)
}

/** Checks whether a person has at least `more` sessions above the maximum, even if it is not enforced. */
export function isAtLimit({ live, limit }: CheckedPerson, more: number): boolean {
  return typeof limit?.maximum === 'number' && countedIn(live) >= limit.maximum + more
}

/** Checks whether sessions in two places were used at about the same time. */
async function isInPlacesAtOnce({ details }: PageParts, live: readonly SessionRecord[]): Promise<boolean> {
  const places = await whereabouts(
    details,
    live.map(({ ip }) => ip),
  )
  const uses = live
    .map(({ lastSeenAt }, index) => ({ place: places[index], at: lastSeenAt }))
    .filter(({ place }) => typeof place === 'string')
    .toSorted((one, other) => one.at - other.at)
  return uses.some(({ place, at }, index) => {
    const before = uses[index - 1]
    return before !== undefined && before.place !== place && at - before.at <= AT_ONCE_MS
  })
}

async function hasProgram(live: readonly SessionRecord[]): Promise<boolean> {
  const devices = await Promise.all(live.map(({ userAgent }) => exactDevice(userAgent, '')))
  return devices.some(({ kind }) => kind === 'program')
}

type Kind = (typeof EXACT_KINDS)[number]

/** Maps each kind of device to its field, such as `computers`. */
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
  maximum_if_enforced: z.optional(z.nullable(z.int())),
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
  places: z.int(),
})

export type PersonRow = z.infer<typeof personRowSchema>

/** Returns a row for each person who is signed in, with the address of the session that was used last. */
export async function personRows(
  parts: Pick<RouteParts, 'details' | 'findSignedIn'>,
  people: readonly CheckedPerson[],
): Promise<readonly PersonRow[]> {
  const { details, findSignedIn } = parts
  const last = people.map(({ live }) => live.reduce((one, other) => (other.lastSeenAt > one.lastSeenAt ? other : one)))
  const places = await details.placesOf(last.map(({ ip }) => ip))
  return Promise.all(
    people.map(async ({ userId, live, limit }, index): Promise<PersonRow> => {
      const user = await details.userBy(() => findSignedIn(userId))
      const { lastSeenAt, ip } = last[index] as SessionRecord
      return {
        // Without a user, only the id is shown: a deleted user may still be signed in, or the application may fail.
        user:
          user === undefined ? { id: userId, login: String(userId), display_name: '' } : await details.personOf(user),
        live: live.length,
        ...(limit && shownLimit(limit)),
        over: limit?.enforced === true && limit.maximum !== null && countedIn(live) > limit.maximum,
        devices: await devicesOf(live),
        last_seen: unixSeconds(lastSeenAt),
        signed_in: unixSeconds(Math.max(...live.map(({ createdAt }) => createdAt))),
        ip,
        place: places[index] ?? null,
        places: await placesOf(parts, live),
      }
    }),
  )
}

async function devicesOf(live: readonly SessionRecord[]): Promise<Devices> {
  const devices: Devices = { computers: 0, phones: 0, tablets: 0, tvs: 0, programs: 0, unknown: 0 }
  for (const { userAgent } of live) devices[COUNTED[(await exactDevice(userAgent, '')).kind]] += 1
  return devices
}
