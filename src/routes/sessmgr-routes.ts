import type { Host } from '../host/host.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { destroyAllSessionsRoute } from './destroy-all-sessions-route.ts'
import { destroySessionsRoute } from './destroy-sessions-route.ts'
import { listSessionsRoute } from './list-sessions-route.ts'
import { createOptionAccess, type GuardedOption } from './option-access.ts'
import type { RestRoute } from './rest-route.ts'
import { settingRoutes } from './setting-routes.ts'
import { settingsRoutes } from './settings-routes.ts'
import { siteOptionRoutes } from './site-option-routes.ts'
import { siteSettingsRoutes } from './site-settings-routes.ts'

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
    ...settingRoutes(settings),
    listSessionsRoute(sessions, host),
    destroySessionsRoute(sessions, host),
    destroyAllSessionsRoute(sessions, !limiter.isLocal),
    ...siteSettingsRoutes(options, access),
    ...siteOptionRoutes(options, access),
  ]
}
