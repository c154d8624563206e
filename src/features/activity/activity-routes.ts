import * as z from 'zod/mini'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Host, HostUsers, UserSummary } from '../../host/host.ts'
import { resolveUsers } from '../../host/users.ts'
import { badQuery } from '../../routes/answer.ts'
import { csvRow, RestDownload } from '../../routes/download.ts'
import { countPlaces, type HostDetails } from '../../routes/resources/host-details.ts'
import { once, pageLimit } from '../../routes/resources/route-parts.ts'
import { type RestRoute, restRoute } from '../../routes/router.ts'
import type { ActivityFeature } from './activity-feature.ts'
import { AUDIT_TYPES, type AuditEvent, type AuditType, isInvalidCursor, type Selection } from './audit-event.ts'
import type { EventPolicy } from './event-of.ts'
import type { Recorder } from './recorder.ts'

const DEFAULT_LIMIT = 50
const MOST_ON_A_PAGE = 200
const MOST_PARTS = 1000
const AT_LIMIT = { usual: 10, most: 100 }

/** Formats of the export, by file extension, with their media types. */
const EXPORT_FORMATS = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const

type ExportFormat = keyof typeof EXPORT_FORMATS

const PAGE = 500

/**
 * Yields the selected events as strings, one page at a time. Also yields empty pages, so that reading stops when the
 * connection closes.
 *
 * @throws SessmgrError `store_unavailable` if the sink makes no progress.
 */
export async function* exportEvents(
  recorder: Pick<Recorder, 'read'>,
  selection: Selection,
  format: ExportFormat,
  { usersOf, placesOf }: ExportParts,
): AsyncGenerator<string> {
  const lineOf = LINES[format]
  let start = format === 'csv' ? CSV_HEADER : ''
  let cursor: string | undefined
  do {
    const { events, next } = await recorder.read({ ...selection, limit: PAGE, cursor })
    const [userOf, places] = await Promise.all([usersOf(events), placesOf(events.map(({ ip = null }) => ip))])
    const text = start + events.map((event, at) => lineOf(event, { userOf, place: places[at] })).join('')
    start = ''
    if (next !== undefined && next === cursor) {
      throw new SessmgrError('store_unavailable', 'The audit sink returned the same `next` twice.')
    }
    cursor = next
    yield text
  } while (cursor !== undefined)
}

/** What an export needs besides the events. */
interface ExportParts {
  /** Looks up the users of events. */
  usersOf(events: readonly AuditEvent[]): Promise<UserOf>
  readonly placesOf: HostDetails['placesOf']
}

const COLUMNS = [
  'at',
  'type',
  'user',
  'session',
  'initiator',
  'actor',
  'kind',
  'device',
  'ip',
  'details',
  'id',
  'user_login',
  'user_name',
  'actor_login',
  'displaced_count',
  'place',
] as const

/** Header row of the CSV file. */
const CSV_HEADER = csvRow(COLUMNS)

/** Adds fields for human readers: the names of users and places, and how many sessions a login has displaced. */
function named(event: AuditEvent, { userOf, place }: LineParts) {
  const [user, actor] = [event.user, event.actor].map((id) => (id === undefined ? undefined : userOf(id)))
  const displaced = event.details?.displaced
  return {
    ...event,
    ...(user?.login !== undefined && { user_login: user.login }),
    ...(user?.display_name && { user_name: user.display_name }),
    ...(actor?.login !== undefined && { actor_login: actor.login }),
    ...(Array.isArray(displaced) && { displaced_count: displaced.length }),
    ...(place && { place }),
  }
}

/** Returns an event as a CSV row, without the tokens of displaced sessions, because there can be hundreds of them. */
function toCsv(event: AuditEvent, parts: LineParts): string {
  const { displaced: _, ...details } = event.details ?? {}
  const row: Partial<Record<(typeof COLUMNS)[number], unknown>> = {
    ...named(event, parts),
    at: new Date(event.at).toISOString(),
    details: Object.keys(details).length > 0 ? details : undefined,
  }
  return csvRow(COLUMNS.map((name) => row[name]))
}

/** What is needed to write the lines of a page. */
interface LineParts {
  readonly userOf: UserOf
  readonly place: string | null | undefined
}

/** Functions that return an event's line, by format. */
const LINES: Record<ExportFormat, (event: AuditEvent, parts: LineParts) => string> = {
  jsonl: (event, parts) => `${JSON.stringify(named(event, parts))}\n`,
  csv: toCsv,
}

const FORMATS = Object.keys(EXPORT_FORMATS) as [ExportFormat, ...ExportFormat[]]
const NO_CURSOR = 'must be the `next` of a page'
const requiredTime = once.check(z.regex(/^\d{1,15}$/, 'must be a time in milliseconds'))
const time = z.optional(requiredTime)

/** The parameters that select events. */
const selection = {
  type: z.optional(z.enum(AUDIT_TYPES, `must be one of ${AUDIT_TYPES.join(', ')}`)),
  user: z.optional(once),
  ip: z.optional(once),
  from: time,
  to: time,
}

interface SelectionParameters {
  readonly type?: AuditType
  readonly user?: string
  readonly ip?: string
  readonly from?: string
  readonly to?: string
}

const id = z.union([z.int(), z.string()])
const person = z.object({ id, login: z.optional(z.string()), display_name: z.optional(z.string()) })
const event = z.object({
  id: z.string(),
  at: z.int(),
  type: z.enum(AUDIT_TYPES),
  user: z.optional(person),
  session: z.optional(z.string()),
  initiator: z.enum(['user', 'admin', 'policy', 'system']),
  actor: z.optional(person),
  kind: z.optional(z.string()),
  device: z.optional(z.string()),
  ip: z.optional(z.string()),
  place: z.optional(z.string()),
  details: z.optional(z.record(z.string(), z.unknown())),
})

const kept = z.enum(['process', 'sink'])
const part = z.object({ at: z.int(), events: z.int(), started: z.int(), ended: z.int(), refused: z.int() })
const atLimit = z.object({
  user: person,
  displaced: z.int(),
  refused: z.int(),
  would_limit: z.int(),
  addresses: z.int(),
  places: z.int(),
})

/** What the routes of the activity log need. */
interface ActivityParts extends Pick<ActivityFeature, 'recorder'> {
  readonly users: HostUsers
  readonly details: HostDetails
}

/** Returns the routes that list, count and export the activity log. */
export function activityRoutes(
  { recorder }: Pick<ActivityFeature, 'recorder'>,
  { users }: Host,
  details: HostDetails,
): readonly RestRoute[] {
  const parts = { recorder, users, details }
  return [listRoute(parts), countsRoute(parts), exportRoute(parts)]
}

function listRoute({ recorder, users, details }: ActivityParts): RestRoute {
  return restRoute<SelectionParameters & { limit?: string; cursor?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/audit',
    summary:
      'Lists the activity, newest first; `next` is the `cursor` of the next page. Times are in milliseconds; events before `since` are unknown.',
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({
        ...selection,
        limit: z.optional(pageLimit(MOST_ON_A_PAGE)),
        cursor: z.optional(once.check(z.regex(/^[\w.:-]{1,200}$/, NO_CURSOR))),
      }),
      response: z.object({
        events: z.array(event),
        next: z.optional(z.string()),
        since: z.int(),
        kept,
      }),
    }),
    async handle({ params: { limit: most = DEFAULT_LIMIT, cursor, ...selected } }) {
      const late = await recorder()
      const query = await queryOf(selected, users, late.policy)
      const { events, next, since } = await late.read({ ...query, limit: Number(most), cursor }).catch(refuseCursor)
      const [userOf, places] = await Promise.all([
        usersOfEvents(events, late.policy.hasIds ? users : undefined, details),
        details.placesOf(events.map(({ ip = null }) => ip)),
      ])
      const kept = late.isKept ? 'sink' : 'process'
      const rows = events.map((one, index) => shown(one, userOf, places[index]))
      return { events: rows, ...(next !== undefined && { next }), since, kept }
    },
  })
}

function countsRoute({ recorder, users, details }: ActivityParts): RestRoute {
  return restRoute<SelectionParameters & { from: string; step: string; limit?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/audit/counts',
    summary:
      'Counts the events of each `step` milliseconds of a period, and lists the users who were at their limit most often (`limit`, 10 by default, at most 100), with the number of their addresses and places. `to` is now by default. Events before `since` are not counted.',
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({
        ...selection,
        from: requiredTime,
        step: requiredTime,
        limit: z.optional(pageLimit(AT_LIMIT.most)),
      }),
      response: z.object({ parts: z.array(part), people: z.array(atLimit), since: z.int(), kept }),
    }),
    async handle({ params: { step: given, limit = AT_LIMIT.usual, ...selected } }) {
      const late = await recorder()
      const query = await queryOf(selected, users, late.policy)
      const [from, to, step] = [Number(selected.from), query.to ?? Date.now(), Number(given)]
      if (to < from) throw badQuery({ to: 'must be later than from' })
      if (step < 1 || (to - from) / step > MOST_PARTS) {
        throw badQuery({ step: `must divide the period into at most ${MOST_PARTS} parts` })
      }
      const counted = await late.count({ ...query, from, to, step, limit: Number(limit) })
      const userOf = await usersById(
        counted.users.map(({ user }) => user),
        late.policy.hasIds ? users : undefined,
        details,
      )
      const people = counted.users.map(async ({ user, ips, wouldLimit, ...counts }) => ({
        user: userOf(user),
        ...counts,
        would_limit: wouldLimit,
        addresses: ips.length,
        places: await countPlaces(details, ips),
      }))
      return {
        parts: counted.parts,
        people: await Promise.all(people),
        since: counted.since,
        kept: late.isKept ? 'sink' : 'process',
      }
    },
  })
}

function exportRoute({ recorder, users, details }: ActivityParts): RestRoute {
  return restRoute<SelectionParameters & { format?: ExportFormat }>({
    methods: ['GET'],
    path: '/sessmgr/v1/audit/export',
    summary: 'Downloads the activity log, newest first, as JSON Lines or CSV.',
    access: 'manage_options',
    mediaTypes: ['application/jsonl', 'text/csv'],
    schemas: () => ({
      params: z.object({ ...selection, format: z.optional(z.enum(FORMATS, `must be one of ${FORMATS.join(', ')}`)) }),
      response: z.string(),
    }),
    async handle({ params: { format = 'jsonl', ...selected } }) {
      const late = await recorder()
      const query = await queryOf(selected, users, late.policy)
      const usersOf = (events: readonly AuditEvent[]) =>
        usersOfEvents(events, late.policy.hasIds ? users : undefined, details)
      return new RestDownload(
        `activity.${format}`,
        EXPORT_FORMATS[format],
        exportEvents(late, query, format, { usersOf, placesOf: details.placesOf }),
      )
    },
  })
}

function refuseCursor(error: unknown): never {
  if (!isInvalidCursor(error)) throw error
  throw badQuery({ cursor: NO_CURSOR })
}

/** Converts the parameters of a request to a query for the sink. */
async function queryOf({ type, user, ip, from, to }: SelectionParameters, users: HostUsers, policy: EventPolicy) {
  const ids = user === undefined || user.trim() === '' ? undefined : await findUserIds(users, user)
  const address = ip?.trim()
  return {
    type,
    users: ids?.flatMap((id) => policy.identify(id) ?? []),
    // If no addresses are recorded, search for the given one, so that nothing is found.
    ip: address ? (policy.address(address) ?? address) : undefined,
    from: from === undefined ? undefined : Number(from),
    to: to === undefined ? undefined : Number(to),
  }
}

function shown({ user, actor, ...event }: AuditEvent, userOf: UserOf, place: string | null | undefined): object {
  const person = (name: string, id: UserId | undefined) => (id === undefined ? {} : { [name]: userOf(id) })
  return { ...event, ...person('user', user), ...person('actor', actor), ...(place && { place }) }
}

/**
 * Returns the ids that an administrator may have meant. A deleted user can only be found by id, which may have been a
 * number or a string.
 */
async function findUserIds(users: HostUsers, identifier: string): Promise<readonly UserId[]> {
  const found = await resolveUsers(users, identifier)
  if (found.length > 0) return found.map((user) => users.summary(user).id)
  const name = identifier.trim()
  const isNumber = Number.isSafeInteger(Number(name)) && String(Number(name)) === name
  return isNumber ? [name, Number(name)] : [name]
}

/** A user in a response. A deleted user has only the id. */
type ShownUser = Pick<UserSummary, 'id'> & Partial<Pick<UserSummary, 'login' | 'display_name'>>

type UserOf = (id: UserId) => ShownUser

/** Looks up the users and the actors of events. */
function usersOfEvents(
  events: readonly AuditEvent[],
  users: HostUsers | undefined,
  details: Pick<HostDetails, 'userBy'>,
): Promise<UserOf> {
  return usersById(
    events.flatMap(({ user, actor }) => [user ?? [], actor ?? []].flat()),
    users,
    details,
  )
}

/** Looks up users, each once. A failed lookup leaves only the id. */
async function usersById(
  ids: readonly UserId[],
  users: HostUsers | undefined,
  details: Pick<HostDetails, 'userBy'>,
): Promise<UserOf> {
  const find = async (id: UserId): Promise<ShownUser> => {
    const user = users && (await details.userBy(() => users.findById(id)))
    if (!users || user === undefined) return { id }
    const { login, display_name } = users.summary(user)
    return { id, login, display_name }
  }
  const found = await Promise.all([...new Set(ids)].map((id) => find(id).catch(() => ({ id }))))
  const byId = new Map(found.map((user) => [user.id, user]))
  return (id) => byId.get(id) ?? { id }
}
