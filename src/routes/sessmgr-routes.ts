import { peopleRoutes } from './people/people-routes.ts'
import type { RestRoute } from './rest-route.ts'
import { explainRoute } from './sessions/explain-route.ts'
import type { RouteParts } from './sessions/route-parts.ts'
import { sessionsRoutes } from './sessions/sessions-routes.ts'
import { createOptionAccess, type GuardedOption } from './settings/option-access.ts'
import { settingsRoutes } from './settings/settings-routes.ts'
import { siteOptionsRoutes } from './settings/site-options-routes.ts'

/** Lists the routes of the session limit. */
export function sessmgrRoutes(parts: RouteParts, guarded: readonly GuardedOption[]): readonly RestRoute[] {
  const { limiter, host } = parts
  const { settings, modes, options } = limiter
  const access = createOptionAccess(options, host, guarded)
  return [
    ...settingsRoutes(settings, modes),
    ...sessionsRoutes(parts),
    ...peopleRoutes(parts),
    explainRoute(limiter, host),
    ...siteOptionsRoutes(options, access),
  ]
}
