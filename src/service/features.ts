import { createAddonsFeature } from '../features/addons/addons-feature.ts'
import { createAdminFeature } from '../features/admin/admin-feature.ts'
import { createCommentsFeature } from '../features/comments/comments-feature.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { Feature } from '../routes/feature.ts'
import type { ResolvedOptions } from './resolve-options.ts'
import type { RestService } from './rest-service.ts'
import type { Sessmgr } from './service.ts'

/** Creates the features of the service, and gathers what each adds to it. */
export function createFeatures(options: ResolvedOptions, { hooks, modes }: SessionLimiter, rest: RestService) {
  const { posts, theme, can } = options.host ?? {}
  const parts = { ...options, ...rest, hooks, modes }
  const addons = createAddonsFeature(parts)
  const comments = posts && theme && can ? createCommentsFeature({ ...parts, host: { posts, theme, can } }) : undefined
  const { routesWarning, ...admin } = createAdminFeature({ ...parts, commentsOption: comments?.option })
  const features: readonly Feature<unknown>[] = comments ? [addons, comments, admin] : [addons, admin]
  return {
    routes: features.flatMap(({ routes }) => routes),
    options: features.flatMap(({ option }) => option ?? []),
    members: {
      ...(admin.member as Pick<Sessmgr, 'admin' | 'enqueueAdmin'>),
      addons: addons.member,
      comments: comments?.member,
    },
    routesWarning,
  }
}
