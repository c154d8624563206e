import { destroyAllSessionsRoute } from './destroy-all-sessions-route.ts'
import { destroySessionsRoute } from './destroy-sessions-route.ts'
import { listSessionsRoute } from './list-sessions-route.ts'
import { openapiRoute } from './openapi-route.ts'
import type { RestRoute } from './rest-route.ts'
import { readSettingsRoute, writeSettingsRoute } from './settings-route.ts'
import { readSiteSettingsRoute, writeSiteSettingsRoute } from './site-settings-route.ts'

/** Lists every route: those of the session limit, and those of other parts that are switched on. */
export function sessmgrRoutes(nonceHeader: string, others: readonly RestRoute[] = []): readonly RestRoute[] {
  const routes: readonly RestRoute[] = [
    readSettingsRoute,
    writeSettingsRoute,
    listSessionsRoute,
    destroySessionsRoute,
    destroyAllSessionsRoute,
    readSiteSettingsRoute,
    writeSiteSettingsRoute,
    openapiRoute(() => routes, nonceHeader),
    ...others,
  ]
  return routes
}
