import * as z from 'zod/mini'
import type { Host } from '../host/host.ts'
import type { SessionManager } from '../limiter/manage-sessions.ts'
import { TOKEN_PATTERN } from '../sessions/token.ts'
import { RestError } from './rest-error.ts'
import { type RestRoute, restRoute } from './rest-route.ts'
import { checkIdentifier, requireUser, type UserParameters, userFields, userSummarySchema } from './user-parameter.ts'

/** Ends all sessions of a user, or one. */
export function destroySessionsRoute(sessions: SessionManager, { users }: Host): RestRoute {
  return restRoute<UserParameters & { token?: string }>({
    methods: ['POST'],
    path: '/sessmgr/v1/sessions/destroy',
    summary: 'Ends all sessions of a user, or the one that a token names.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object({
        ...userFields,
        token: z.optional(
          z.string('must be a text').check(z.regex(TOKEN_PATTERN, 'must be a session token: 64 hexadecimal digits')),
        ),
      }),
      response: z.object({ success: z.boolean(), user: userSummarySchema }),
    }),
    precheck: checkIdentifier,
    async handle({ params }) {
      const summary = users.summary(await requireUser(users, params))
      if (params.token === undefined) await sessions.endAll(summary.id)
      else if (!(await sessions.end(summary.id, params.token))) {
        throw new RestError(404, 'session_not_found', 'This user has no such session.')
      }
      return { success: true, user: summary }
    },
  })
}
