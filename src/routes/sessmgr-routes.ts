import type { Host } from '../host/host.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { RestRoute } from './rest-route.ts'
import { explainRoute } from './sessions/explain-route.ts'
import { sessionsRoutes } from './sessions/sessions-routes.ts'
import { createOptionAccess, type GuardedOption } from './settings/option-access.ts'
import { settingsRoutes } from './settings/settings-routes.ts'
import { siteOptionsRoutes } from './settings/site-options-routes.ts'

/** Lists the routes of the session limit. */
export function sessmgrRoutes(
  limiter: SessionLimiter,
  host: Host,
  guarded: readonly GuardedOption[],
): readonly RestRoute[] {
  const { sessions, settings, modes, options } = limiter
  const access = createOptionAccess(options, host, guarded)
  return [
    ...settingsRoutes(settings, modes),
    ...sessionsRoutes(sessions, host, !limiter.isLocal),
    explainRoute(limiter, host),
    ...siteOptionsRoutes(options, access),
  ]
}
