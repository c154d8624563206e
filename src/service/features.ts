import { type AccountFeatureParts, createAccountFeature } from '../features/account/account-feature.ts'
import { lateAddons } from '../features/addons/late-addons.ts'
import { createAdminFeature } from '../features/admin/admin-feature.ts'
import { createCommentsFeature } from '../features/comments/comments-feature.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { ResolvedOptions } from './resolve-options.ts'
import type { RestService } from './rest-service.ts'
import type { Sessmgr } from './service.ts'

/** Creates the features and collects what each adds to the service. */
export function createFeatures(
  options: ResolvedOptions,
  { hooks, modes, sessions, settings }: SessionLimiter,
  rest: RestService,
  loginAtOf: AccountFeatureParts['loginAtOf'],
) {
  const { posts, theme, can } = options.host ?? {}
  const parts = { ...options, ...rest, hooks, modes }
  const comments = posts && theme && can ? createCommentsFeature({ ...parts, host: { posts, theme, can } }) : undefined
  const { routesWarning, member } = createAdminFeature({
    ...parts,
    commentsOption: comments?.option,
    load: async (admin) => (await import('./late.ts')).createAdmin(admin),
  })
  const account = createAccountFeature({
    ...parts,
    sessions,
    settings,
    loginAtOf,
    load: async (page) => (await import('./late.ts')).createAccount(page),
  })
  const addons = lateAddons(async () => (await import('./late.ts')).createAddonsFeature(parts))
  const pages = { ...member, ...account.member } as Pick<Sessmgr, keyof typeof member | keyof typeof account.member>
  const members = { ...pages, addons, comments: comments?.member }
  return { members, account, addons, comments, routesWarning }
}
