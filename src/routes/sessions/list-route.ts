import * as z from 'zod/mini'
import { type RestRoute, restRoute } from '../rest-route.ts'
import type { RouteParts } from './route-parts.ts'
import { sessionRowSchema, sessionRows } from './session-row.ts'
import { userLimit } from './user-limit.ts'
import { checkIdentifier, personSchema, requireUser, type UserParameters, userFields } from './user-parameter.ts'

const MOST_ON_A_PAGE = 1000
/** A number in a query, short enough to be exact. */
const digits = z.string('must be set exactly once').check(z.regex(/^\d{1,15}$/, 'must be a whole number'))
const limit = digits.check(
  z.refine((text) => Number(text) >= 1 && Number(text) <= MOST_ON_A_PAGE, `must be from 1 to ${MOST_ON_A_PAGE}`),
  z.describe(`from 1 to ${MOST_ON_A_PAGE}`),
)

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
        user: personSchema,
        sessions: z.array(sessionRowSchema),
        limit: z.nullable(z.object({ maximum: z.nullable(z.int()), logic: z.string(), over: z.boolean() })),
        next_after: z.optional(z.int()),
      }),
    }),
    precheck: checkIdentifier,
    async handle({ params, caller, request }) {
      const person = await details.personOf(await requireUser(host.users, params))
      const most = Number(params.limit ?? MOST_ON_A_PAGE)
      const after = Number(params.after ?? 0)
      const [records, settings] = await Promise.all([
        limiter.sessions.list(person.id, { limit: most + 1, after }),
        limiter.settings.get(),
      ])
      const page = records.slice(0, most)
      const pattern = textsFor(request).say('account_device')
      const [maximum, rows] = await Promise.all([
        userLimit(limiter, person.id, settings),
        sessionRows(parts, page, { caller, pattern }),
      ])

      /** Counts further only if the page does not tell. */
      async function isOver(maximum: number): Promise<boolean> {
        if (page.length > maximum || (after === 0 && records.length <= most)) return page.length > maximum
        return (await limiter.sessions.list(person.id, { limit: maximum + 1 })).length > maximum
      }

      const last = records.length > most ? page.at(-1) : undefined
      return {
        user: person,
        sessions: rows,
        limit:
          maximum === undefined
            ? null
            : { maximum, logic: settings.logic, over: maximum !== null && (await isOver(maximum)) },
        ...(last && { next_after: last.sequence }),
      }
    },
  })
}
