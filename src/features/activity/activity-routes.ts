import * as z from 'zod/mini'
import type { UserId } from '../../ground/user-id.ts'
import type { Host, HostUsers } from '../../host/host.ts'
import { RestDownload } from '../../routes/download/rest-download.ts'
import type { HostDetails } from '../../routes/people/host-details.ts'
import { pageLimit } from '../../routes/people/page-limit.ts'
import { badQuery } from '../../routes/rest-error.ts'
import { type RestRoute, restRoute } from '../../routes/rest-route.ts'
import type { ActivityFeature } from './activity-feature.ts'
import { AUDIT_TYPES, type AuditEvent, type AuditType } from './audit-event.ts'
import { EXPORT_FORMATS, type ExportFormat, exportEvents } from './export-events.ts'
import { findUserIds } from './find-user-ids.ts'
import { isInvalidCursor } from './sinks/check-cursor.ts'
import { usersOfEvents } from './users-of-events.ts'

const DEFAULT_LIMIT = 50
const MOST_ON_A_PAGE = 200
const FORMATS = Object.keys(EXPORT_FORMATS) as [ExportFormat, ...ExportFormat[]]
const NO_CURSOR = 'must be the `next` of a page'
const ONCE = 'must be set exactly once'

const time = z.optional(z.string(ONCE).check(z.regex(/^\d{1,15}$/, 'must be a time in milliseconds')))

/** The parameters that select events. */
const selection = {
  type: z.optional(z.enum(AUDIT_TYPES, `must be one of ${AUDIT_TYPES.join(', ')}`)),
  user: z.optional(z.string(ONCE)),
  from: time,
  to: time,
}

export interface SelectionParameters {
  readonly type?: AuditType
  readonly user?: string
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
  details: z.optional(z.record(z.string(), z.unknown())),
})

/**
 * Shows and exports the activity log.
 *
 * @param site Address of the site, for formats that name the sender.
 */
export function activityRoutes(
  { recorder }: Pick<ActivityFeature, 'recorder'>,
  { users }: Host,
  details: HostDetails,
  site = 'sessmgr',
): readonly RestRoute[] {
  return [
    restRoute<SelectionParameters & { limit?: string; cursor?: string }>({
      methods: ['GET'],
      path: '/sessmgr/v1/audit',
      summary:
        'Lists what happened, newest first; `next` is the `cursor` of the next page. Times are in milliseconds, and nothing is known from before `since`.',
      access: 'manage_options',
      isTagged: true,
      schemas: () => ({
        params: z.object({
          ...selection,
          limit: z.optional(pageLimit(MOST_ON_A_PAGE)),
          cursor: z.optional(z.string(ONCE).check(z.regex(/^[\w.:-]{1,200}$/, NO_CURSOR))),
        }),
        response: z.object({
          events: z.array(event),
          next: z.optional(z.string()),
          since: z.int(),
          kept: z.enum(['process', 'sink']),
        }),
      }),
      async handle({ params: { limit: most = DEFAULT_LIMIT, cursor, ...selected } }) {
        const late = await recorder()
        const query = await queryOf(selected, users, late.policy.identify)
        const { events, next, since } = await late.read({ ...query, limit: Number(most), cursor }).catch(refuseCursor)
        const userOf = await usersOfEvents(events, late.policy.hasIds ? users : undefined, details)
        const kept = late.isKept ? 'sink' : 'process'
        return { events: events.map((one) => shown(one, userOf)), ...(next !== undefined && { next }), since, kept }
      },
    }),
    restRoute<SelectionParameters & { format?: ExportFormat }>({
      methods: ['GET'],
      path: '/sessmgr/v1/audit/export',
      summary:
        'Downloads what happened, newest first: as JSON lines or CSV, or logins and ended sessions as OCSF or CAEP events, one JSON object a line.',
      access: 'manage_options',
      mediaTypes: ['application/jsonl', 'text/csv'],
      schemas: () => ({
        params: z.object({ ...selection, format: z.optional(z.enum(FORMATS, `must be one of ${FORMATS.join(', ')}`)) }),
        response: z.string(),
      }),
      async handle({ params: { format = 'jsonl', ...selected } }) {
        const late = await recorder()
        const query = await queryOf(selected, users, late.policy.identify)
        const { type, ending } = EXPORT_FORMATS[format]
        return new RestDownload(`activity.${ending}`, type, exportEvents(late, query, format, site))
      },
    }),
  ]
}

function refuseCursor(error: unknown): never {
  if (!isInvalidCursor(error)) throw error
  throw badQuery({ cursor: NO_CURSOR })
}

/** Returns the query of a selection. */
async function queryOf(
  { type, user, from, to }: SelectionParameters,
  users: HostUsers,
  identify: (user: UserId) => UserId | undefined,
) {
  const ids = user === undefined || user.trim() === '' ? undefined : await findUserIds(users, user)
  return {
    type,
    users: ids?.flatMap((id) => identify(id) ?? []),
    from: from === undefined ? undefined : Number(from),
    to: to === undefined ? undefined : Number(to),
  }
}

function shown({ user, actor, ...event }: AuditEvent, userOf: Awaited<ReturnType<typeof usersOfEvents>>): object {
  const person = (name: string, id: UserId | undefined) => (id === undefined ? {} : { [name]: userOf(id) })
  return { ...event, ...person('user', user), ...person('actor', actor) }
}
