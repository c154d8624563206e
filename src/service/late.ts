// Code that few requests need, all in one file. With an import() for each part, the build would create a chunk for
// every combination.

import type { ActivityFeature } from '../features/activity/activity-feature.ts'
import { activityRoutes } from '../features/activity/activity-routes.ts'
import type { Addons } from '../features/addons/addons.ts'
import { addonsRoutes } from '../features/addons/addons-routes.ts'
import type { CommentsFeature } from '../features/comments/comments-feature.ts'
import { accountRoutes, type NoticeFor } from '../features/pages/account-routes.ts'
import type { AccountFeature } from '../features/pages/pages-feature.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { createHostDetails } from '../routes/resources/host-details.ts'
import { openapiRoute } from '../routes/resources/openapi-route.ts'
import { passwordsRoutes } from '../routes/resources/passwords-routes.ts'
import { peopleRoutes } from '../routes/resources/people-routes.ts'
import { sessionsRoutes } from '../routes/resources/sessions-routes.ts'
import { settingsRoutes, siteOptionsRoutes } from '../routes/resources/settings-routes.ts'
import { supportRoute } from '../routes/resources/support-route.ts'
import { createRouter, type RouterParts } from '../routes/router.ts'
import { LATE_TEXTS } from '../texts/english.ts'
import { addLateTexts } from '../texts/text-catalogue.ts'
import type { ResolvedOptions } from './resolve-options.ts'
import type { Sessmgr } from './service.ts'

export { Recorder } from '../features/activity/recorder.ts'
export { createAddonsFeature } from '../features/addons/addons.ts'
export { createAdmin } from '../features/admin/create-admin.ts'
export { createComments } from '../features/comments/create-comments.ts'
export { createAccount } from '../features/pages/account-page.ts'
export { createChoice } from '../features/pages/choice-page.ts'

addLateTexts(LATE_TEXTS)

/**
 * Returns the router with the routes of the session limit and of the features, and the route that describes them.
 * Without the `host` option, there are only routes for callers' own sessions.
 */
export async function createServiceRouter(
  parts: Omit<RouterParts, 'routes'>,
  limiter: SessionLimiter,
  features: {
    account: AccountFeature
    activity: ActivityFeature
    addons: Addons
    comments: CommentsFeature | undefined
  },
  eraseUser: Sessmgr['eraseUser'],
  { options, noticeFor }: { options: ResolvedOptions; noticeFor: NoticeFor },
) {
  const { account, activity, addons, comments } = features
  const own = accountRoutes(account, noticeFor)
  if (!options.host) return createRouter({ ...parts, routes: own })
  const details = createHostDetails(parts.host, parts.logger, options.deadlineMs)
  const { settings, modes, options: siteOptions } = limiter
  const resources = { ...parts, limiter, eraseUser, details, refusedSince: activity.refusedSince }
  const routes = [
    ...own,
    ...settingsRoutes(settings, modes),
    ...sessionsRoutes(resources),
    ...peopleRoutes(resources),
    ...siteOptionsRoutes(siteOptions, parts.host, comments ? [comments.option] : []),
    ...passwordsRoutes(parts.passwords, parts.host),
    ...(options.audit === false ? [] : activityRoutes(activity, parts.host, details)),
    ...addonsRoutes(addons),
    supportRoute({
      store: options.store,
      settings,
      addons: installed(addons),
      directory: options.directory,
      audit: options.audit === false ? 'off' : options.audit && !options.audit.sink.local ? 'sink' : 'process',
    }),
    ...(comments ? (await comments.loaded()).routes : []),
  ]
  return createRouter({ ...parts, routes: [...routes, openapiRoute(routes, parts.nonceHeader)] })
}

function installed(addons: Addons) {
  return async () => {
    const { items } = await addons.list()
    return items.filter((row) => row.is_active).map((row) => ({ id: row.id, licensed: row.is_license_active }))
  }
}
