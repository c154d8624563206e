import * as z from 'zod/mini'
import { TOKEN_PATTERN } from '../../sessions/token.ts'
import { byAdmin } from '../caller.ts'
import { invalidParams, RestError } from '../rest-error.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'
import { listRoute } from './list-route.ts'
import type { RouteParts } from './route-parts.ts'
import { checkIdentifier, requireUser, type UserParameters, userFields, userSummarySchema } from './user-parameter.ts'

const MOST_AT_ONCE = 100

const token = z
  .string('must be a string')
  .check(z.regex(TOKEN_PATTERN, 'must be a session token: 64 hexadecimal digits'))

/** Lists and ends sessions, of one user or of all. */
export function sessionsRoutes(parts: RouteParts): readonly RestRoute[] {
  const { limiter, host } = parts
  const { sessions } = limiter
  const { users } = host
  return [
    listRoute(parts),
    restRoute<UserParameters & { token?: string; tokens?: readonly string[] }>({
      methods: ['POST'],
      path: '/sessmgr/v1/sessions/destroy',
      summary:
        "Ends all of a user's sessions, or only those with the given token or tokens. With `tokens`, also returns how many ended.",
      access: 'manage_options',
      schemas: () => ({
        // With a misspelt token ignored, all sessions would end.
        params: z.strictObject({
          ...userFields,
          token: z.optional(token),
          tokens: z.optional(
            z
              .array(token, 'must be an array of session tokens')
              .check(z.minLength(1, 'must not be empty'), z.maxLength(MOST_AT_ONCE, `must be at most ${MOST_AT_ONCE}`)),
          ),
        }),
        response: z.object({
          success: z.boolean(),
          user: userSummarySchema,
          ended: z.optional(z.int()),
          already_ended: z.optional(z.int()),
        }),
      }),
      precheck: checkIdentifier,
      async handle({ params, caller }) {
        if (params.tokens && params.token !== undefined)
          throw invalidParams({ tokens: 'cannot be combined with token' })
        const summary = users.summary(await requireUser(users, params))
        const whom = byAdmin(caller)
        if (params.tokens) {
          const tokens = [...new Set(params.tokens)]
          const ended = await limiter.endSeveral(summary.id, tokens, whom)
          return { success: true, user: summary, ended, already_ended: tokens.length - ended }
        }
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
        return { success: true, epoch: await sessions.logoutAllUsers(keep, byAdmin(caller)), durable: !limiter.isLocal }
      },
    }),
  ]
}
