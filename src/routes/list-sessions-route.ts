import * as z from 'zod/mini'
import type { Host } from '../host/host.ts'
import type { SessionManager } from '../limiter/manage-sessions.ts'
import { type RestRoute, restRoute } from './rest-route.ts'
import { checkIdentifier, requireUser, type UserParameters, userFields, userSummarySchema } from './user-parameter.ts'

const seconds = (ms: number) => Math.floor(ms / 1000)

/** Lists the sessions of a user. */
export function listSessionsRoute(sessions: SessionManager, { users }: Host): RestRoute {
  return restRoute<UserParameters>({
    methods: ['GET'],
    path: '/sessmgr/v1/sessions',
    summary: 'Lists the live sessions of a user, oldest first. Times are Unix seconds.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object(userFields),
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
      }),
    }),
    precheck: checkIdentifier,
    async handle({ params, caller }) {
      const summary = users.summary(await requireUser(users, params))
      const records = await sessions.list(summary.id)
      const live = records.map((record) => ({
        token: record.token,
        created: seconds(record.createdAt),
        last_seen: seconds(record.lastSeenAt),
        expires: seconds(record.expiresAt),
        ip: record.ip,
        user_agent: record.userAgent,
        current: record.token === caller?.token,
      }))
      return { user: summary, sessions: live }
    },
  })
}
