// Code that few requests need, in one file: with an import() for each, the build would create a chunk for every
// combination.
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

/** Returns the router: the routes of the session limit and of the features, and the one that describes them. */
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
