import { type AccountFeatureParts, createAccountFeature } from '../features/account/account-feature.ts'
import type { ActivityFeature } from '../features/activity/activity-feature.ts'
import { createAdminFeature } from '../features/admin/admin-feature.ts'
import { type ChoiceFeatureParts, createChoiceFeature } from '../features/choice/choice-feature.ts'
import { createCommentsFeature } from '../features/comments/comments-feature.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { OptionChange } from '../options/option-change.ts'
import { lateMethods } from '../routes/late-handler.ts'
import type { ResolvedOptions } from './resolve-options.ts'
import type { RestService } from './rest-service.ts'
import type { Sessmgr } from './service.ts'

/** Creates the features and collects what each adds to the service. */
export function createFeatures(
  options: ResolvedOptions,
  { hooks, modes, sessions, settings, preview, signOutOthers }: SessionLimiter,
  rest: RestService,
  loginAtOf: AccountFeatureParts['loginAtOf'],
  devices: ChoiceFeatureParts['devices'],
  activity: ActivityFeature,
) {
  const { posts, theme, can } = options.host ?? {}
  const noteChange = (change: OptionChange) => activity.log.note('settings.changed', change)
  const parts = { ...options, ...rest, hooks, modes }
  const comments =
    posts && theme && can ? createCommentsFeature({ ...parts, noteChange, host: { posts, theme, can } }) : undefined
  const { routesWarning, member } = createAdminFeature({
    ...parts,
    commentsOption: comments?.option,
    hasDirectory: options.directory,
    siteUrl: options.site?.url,
    load: async (admin) => (await import('./late.ts')).createAdmin(admin),
  })
  const account = createAccountFeature({
    ...parts,
    sessions,
    signOutOthers,
    settings,
    loginAtOf,
    load: async (page) => (await import('./late.ts')).createAccount(page),
  })
  const choice = createChoiceFeature({
    ...parts,
    devices,
    sessions,
    settings,
    preview,
    load: async (page) => (await import('./late.ts')).createChoice(page),
  })
  const loadAddons = async () => (await import('./late.ts')).createAddonsFeature(parts)
  const addons = lateMethods(loadAddons, ['list', 'refresh', 'activate', 'deactivate', 'isLicensed'])
  const pages = { ...member, ...account.member, ...choice.member }
  const members = { ...(pages as Pick<Sessmgr, keyof typeof pages>), addons, comments: comments?.member }
  return { members, activity, account, choice, addons, comments, routesWarning }
}
