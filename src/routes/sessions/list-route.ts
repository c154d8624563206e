import * as z from 'zod/mini'
import { EXACT_KINDS, exactDevice } from '../../sessions/exact-device.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'
import type { RouteParts } from './route-parts.ts'
import { userLimit } from './user-limit.ts'
import { checkIdentifier, requireUser, type UserParameters, userFields, userSummarySchema } from './user-parameter.ts'

const MOST_ON_A_PAGE = 1000
/** A number in a query, short enough to be exact. */
const digits = z.string('must be set exactly once').check(z.regex(/^\d{1,15}$/, 'must be a whole number'))
const limit = digits.check(
  z.refine((text) => Number(text) >= 1 && Number(text) <= MOST_ON_A_PAGE, `must be from 1 to ${MOST_ON_A_PAGE}`),
)

const seconds = (ms: number) => Math.floor(ms / 1000)

/** Lists a user's sessions, and how many they may have. */
export function listRoute(parts: RouteParts): RestRoute {
  const { limiter, host, details, textsFor } = parts
  return restRoute<UserParameters & { limit?: string; after?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/sessions',
    summary:
      "Lists a user's live sessions, oldest first; `next_after` is the `after` of the next page. Times are Unix seconds.",
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({ ...userFields, limit: z.optional(limit), after: z.optional(digits) }),
      response: z.object({
        user: userSummarySchema,
        sessions: z.array(
          z.object({
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
          }),
        ),
        limit: z.nullable(z.object({ maximum: z.nullable(z.int()), logic: z.string(), over: z.boolean() })),
        next_after: z.optional(z.int()),
      }),
    }),
    precheck: checkIdentifier,
    async handle({ params, caller, request }) {
      const person = host.users.summary(await requireUser(host.users, params))
      const most = Number(params.limit ?? MOST_ON_A_PAGE)
      const after = Number(params.after ?? 0)
      const [records, settings] = await Promise.all([
        limiter.sessions.list(person.id, { limit: most + 1, after }),
        limiter.settings.get(),
      ])
      const page = records.slice(0, most)
      const [maximum, places] = await Promise.all([
        userLimit(parts, person.id, settings),
        details.placesOf(page.map(({ ip }) => ip)),
      ])
      const pattern = textsFor(request).say('account_device')
      const rows = page.map(async (record, index) => ({
        token: record.token,
        created: seconds(record.createdAt),
        last_seen: seconds(record.lastSeenAt),
        expires: seconds(record.expiresAt),
        ip: record.ip,
        place: places[index],
        user_agent: record.userAgent,
        device: await exactDevice(record.userAgent, pattern),
        same_browser: sameBrowser(page, index),
        current: record.token === caller?.token,
      }))

      /** Counts further only if the page does not tell. */
      async function isOver(maximum: number): Promise<boolean> {
        if (page.length > maximum || (after === 0 && records.length <= most)) return page.length > maximum
        return (await limiter.sessions.list(person.id, { limit: maximum + 1 })).length > maximum
      }

      const last = records.length > most ? page.at(-1) : undefined
      return {
        user: person,
        sessions: await Promise.all(rows),
        limit:
          maximum === undefined
            ? null
            : { maximum, logic: settings.logic, over: maximum !== null && (await isOver(maximum)) },
        ...(last && { next_after: last.sequence }),
      }
    },
  })
}

/** Returns the token of the next older session of the same browser. */
function sameBrowser(page: readonly SessionRecord[], index: number): string | null {
  const { device } = page[index] as SessionRecord
  return page.slice(0, index).findLast((other) => device && other.device === device)?.token ?? null
}
