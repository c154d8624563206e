import * as z from 'zod/mini'
import type { SessionManager } from '../limiter/manage-sessions.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

/** Logs every user out. */
export function destroyAllSessionsRoute(sessions: SessionManager, isDurable: boolean): RestRoute {
  return restRoute({
    methods: ['POST'],
    path: '/sessmgr/v1/sessions/destroy-all',
    summary: 'Logs every user of the site out. The session of a caller with cookie and nonce survives.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object({}),
      response: z.object({ success: z.boolean(), epoch: z.int(), durable: z.boolean() }),
    }),
    async handle({ caller }) {
      const keep = caller?.token === undefined ? undefined : { userId: caller.userId, token: caller.token }
      return { success: true, epoch: await sessions.logoutAllUsers(keep), durable: isDurable }
    },
  })
}
