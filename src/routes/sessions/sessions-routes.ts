import * as z from 'zod/mini'
import type { Host } from '../../host/host.ts'
import type { SessionManager } from '../../limiter/manage-sessions.ts'
import { TOKEN_PATTERN } from '../../sessions/token.ts'
import { byAdmin } from '../caller.ts'
import { RestError } from '../rest-error.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'
import { checkIdentifier, requireUser, type UserParameters, userFields, userSummarySchema } from './user-parameter.ts'

const MOST_ON_A_PAGE = 1000
/** A number in a query, short enough to be exact. */
const digits = z.string('must be set exactly once').check(z.regex(/^\d{1,15}$/, 'must be a whole number'))
const limit = digits.check(
  z.refine((text) => Number(text) >= 1 && Number(text) <= MOST_ON_A_PAGE, `must be from 1 to ${MOST_ON_A_PAGE}`),
)

const seconds = (ms: number) => Math.floor(ms / 1000)

/**
 * Lists and ends sessions, of one user or of all.
 *
 * @param isDurable Whether a site-wide logout survives a restart of this process.
 */
export function sessionsRoutes(sessions: SessionManager, { users }: Host, isDurable: boolean): readonly RestRoute[] {
  return [
    restRoute<UserParameters & { limit?: string; after?: string }>({
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
              user_agent: z.nullable(z.string()),
              current: z.boolean(),
            }),
          ),
          next_after: z.optional(z.int()),
        }),
      }),
      precheck: checkIdentifier,
      async handle({ params, caller }) {
        const summary = users.summary(await requireUser(users, params))
        const most = Number(params.limit ?? MOST_ON_A_PAGE)
        const records = await sessions.list(summary.id, { limit: most + 1, after: Number(params.after ?? 0) })
        const page = records.slice(0, most)
        const live = page.map((record) => ({
          token: record.token,
          created: seconds(record.createdAt),
          last_seen: seconds(record.lastSeenAt),
          expires: seconds(record.expiresAt),
          ip: record.ip,
          user_agent: record.userAgent,
          current: record.token === caller?.token,
        }))
        const last = records.length > most ? page.at(-1) : undefined
        return { user: summary, sessions: live, ...(last && { next_after: last.sequence }) }
      },
    }),
    restRoute<UserParameters & { token?: string }>({
      methods: ['POST'],
      path: '/sessmgr/v1/sessions/destroy',
      summary: "Ends all of a user's sessions, or only the one with the given token.",
      access: 'manage_options',
      schemas: () => ({
        params: z.object({
          ...userFields,
          token: z.optional(
            z
              .string('must be a string')
              .check(z.regex(TOKEN_PATTERN, 'must be a session token: 64 hexadecimal digits')),
          ),
        }),
        response: z.object({ success: z.boolean(), user: userSummarySchema }),
      }),
      precheck: checkIdentifier,
      async handle({ params, caller }) {
        const summary = users.summary(await requireUser(users, params))
        const whom = byAdmin(caller)
        if (params.token === undefined) await sessions.endAll(summary.id, whom)
        else if (!(await sessions.end(summary.id, params.token, whom))) {
          throw new RestError(404, 'session_not_found', 'This user has no session with this token.')
        }
        return { success: true, user: summary }
      },
    }),
    restRoute({
      methods: ['POST'],
      path: '/sessmgr/v1/sessions/destroy-all',
      summary: 'Logs out every user of the site. A caller with cookie and nonce keeps their own session.',
      access: 'manage_options',
      schemas: () => ({
        params: z.object({}),
        response: z.object({ success: z.boolean(), epoch: z.int(), durable: z.boolean() }),
      }),
      async handle({ caller }) {
        const keep = caller?.token === undefined ? undefined : { userId: caller.userId, token: caller.token }
        return { success: true, epoch: await sessions.logoutAllUsers(keep, byAdmin(caller)), durable: isDurable }
      },
    }),
  ]
}
