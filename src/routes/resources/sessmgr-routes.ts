import type { RestRoute } from '../rest-route.ts'
import { peopleRoutes } from './people-routes.ts'
import type { RouteParts } from './route-parts.ts'
import { sessionsRoutes } from './sessions-routes.ts'
import { settingsRoutes } from './settings-routes.ts'
import { type GuardedOption, siteOptionsRoutes } from './site-options-routes.ts'

/** Lists the routes of the session limit. */
export function sessmgrRoutes(parts: RouteParts, guarded: readonly GuardedOption[]): readonly RestRoute[] {
  const { settings, modes, options } = parts.limiter
  return [
    ...settingsRoutes(settings, modes),
    ...sessionsRoutes(parts),
    ...peopleRoutes(parts),
    ...siteOptionsRoutes(options, parts.host, guarded),
  ]
}
