// What few requests need, in one file: with an import() for each, the build would split what they share with the main door
// into a file for every combination.
import type { Addons } from '../features/addons/addons.ts'
import { addonsRoutes } from '../features/addons/addons-routes.ts'
import type { CommentsFeature } from '../features/comments/comments-feature.ts'
import { commentsRoutes } from '../features/comments/comments-routes.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { openapiRoute } from '../routes/openapi-route.ts'
import { createRouter, type RouterParts } from '../routes/router.ts'
import { sessmgrRoutes } from '../routes/sessmgr-routes.ts'

export { createAddonsFeature } from '../features/addons/addons-feature.ts'
export { createAdmin } from '../features/admin/create-admin.ts'

/** Makes the router of the service: the routes of the session limit, those of the features, and the one that describes them. */
export function createServiceRouter(
  parts: Omit<RouterParts, 'routes'>,
  limiter: SessionLimiter,
  { addons, comments }: { addons: Addons; comments: CommentsFeature | undefined },
) {
  const routes = [
    ...sessmgrRoutes(limiter, parts.host, comments ? [comments.option] : []),
    ...addonsRoutes(addons),
    ...(comments ? commentsRoutes(comments.routeParts) : []),
  ]
  return createRouter({ ...parts, routes: [...routes, openapiRoute(routes, parts.nonceHeader)] })
}
