import * as z from 'zod/mini'
import { unixSeconds } from '../../ground/clock.ts'
import type { Host } from '../../host/host.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import { A_MAXIMUM, maximumProblem } from '../../options/setting-rules.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'
import { checkIdentifier, requireUser, type UserParameters, userFields, userSummarySchema } from './user-parameter.ts'

const ONCE = 'must be set exactly once'

/** Explains how the limit applies to a user. */
export function explainRoute({ explain, modes }: SessionLimiter, { users }: Host): RestRoute {
  const isMode = (id: string) => modes.strategyOf(id).id === id
  return restRoute<UserParameters & { mode?: string; maximum?: string; user_agent?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/explain',
    summary:
      'Explains how the limit applies to a user, and what it does with their next login. Changes nothing. Times are Unix seconds.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object({
        ...userFields,
        mode: z.optional(z.string(ONCE).check(z.refine(isMode, 'must be the id of a mode'))),
        maximum: z.optional(
          z.string(ONCE).check(z.refine((text) => maximumProblem(Number(text)) === undefined, `must be ${A_MAXIMUM}`)),
        ),
        user_agent: z.optional(z.string(ONCE)),
      }),
      response: z.object({
        user: userSummarySchema,
        maximum: z.int(),
        from: z.enum(['settings', 'filter', 'options']),
        bypassed: z.boolean(),
        enforced: z.boolean(),
        mode: z.string(),
        next_login: z.enum(['admitted', 'ends', 'asked', 'refused']),
        need: z.optional(z.int()),
        label: z.optional(z.string()),
        limits: z.optional(z.record(z.string(), z.int())),
        free_at: z.optional(z.int()),
        sessions: z.array(
          z.object({
            token: z.string(),
            device: z.nullable(z.string()),
            created: z.int(),
            last_seen: z.int(),
            label: z.optional(z.string()),
            idle: z.boolean(),
            would_end: z.boolean(),
          }),
        ),
      }),
    }),
    precheck: checkIdentifier,
    async handle({ params }) {
      const { mode, maximum, user_agent: userAgent } = params
      const user = users.summary(await requireUser(users, params))
      const assumed = { mode, maximum: maximum === undefined ? undefined : Number(maximum), userAgent }
      const { live, nextLogin, freeAt, ...limit } = await explain(user.id, assumed)
      const sessions = live.map(({ createdAt, lastSeenAt, wouldEnd, ...session }) => ({
        ...session,
        created: unixSeconds(createdAt),
        last_seen: unixSeconds(lastSeenAt),
        would_end: wouldEnd,
      }))
      const free = freeAt === undefined ? {} : { free_at: Math.ceil(freeAt / 1000) }
      return { user, ...limit, next_login: nextLogin, ...free, sessions }
    },
  })
}
