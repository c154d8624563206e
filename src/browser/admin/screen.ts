import { type BuiltInTab, OPTIONS_PATH } from '../../features/admin/screen-tabs.ts'
import { createOptionDraft, type SiteOptions } from './options/option-draft.ts'
import { createQueries, type Query } from './rest/queries.ts'
import { createRestClient, type RestVars, type Tagged } from './rest/rest-client.ts'
import { noteServerTime } from './rest/server-clock.ts'
import { createScreenHooks } from './shell/screen-hooks.ts'
import { createLocation } from './shell/screen-location.ts'
import { createToasts } from './shell/toast-list.ts'

/** The page's initial variables. */
export interface ScriptVars extends RestVars {
  readonly version: string
  readonly slug: string
  readonly name: string
  readonly page: string
  readonly logics: Readonly<Record<string, { readonly label: string; readonly desc: string }>>
}

declare global {
  interface Window {
    sessmgr: ScriptVars
  }
}

/** This page's variables. */
export const vars = window.sessmgr

/** Root element of the screen. */
export const mount = document.getElementById('sessmgr-admin') as HTMLElement

noteServerTime(Number(mount.dataset.now))

/** The built-in tabs for this user, in order. */
export const builtInTabs: readonly BuiltInTab[] = JSON.parse(mount.dataset.tabs ?? '[]')

/** Whether the activity is recorded. */
export const hasActivity = builtInTabs.some(({ key }) => key === 'activity')

/** Key in `LATE_PARTS` of the part that the open tab renders. */
export const firstPart = mount.dataset.part ?? ''

/** The only tab that this user may see; undefined means all. */
export const onlyTab = mount.dataset.only

/** Whether the server can list who is signed in. */
export const hasDirectory = mount.dataset.directory !== undefined

/** Whether the application can search for users by part of their name. */
export const canSearch = mount.dataset.search !== undefined

/** How many milliseconds the recorded last use of a session may lag behind the actual one. */
export const touchEvery = Number(mount.dataset.touch)

/** How many sessions any user can have at most, whatever the limit. */
export const mostSessions = Number(mount.dataset.most)

/** URL of the site, or an empty string if it is unknown. */
export const siteUrl = mount.dataset.site ?? ''

/** Help links that the application has set. */
export const support: Partial<Record<'docs' | 'forum' | 'contact', string>> = JSON.parse(mount.dataset.support ?? '{}')

export const { hooks, changes: hookChanges } = createScreenHooks()
export const rest = createRestClient(
  vars,
  mount.dataset.nonceHeader ?? 'X-HOST-Nonce',
  JSON.parse(mount.dataset.user ?? 'null'),
)
export const draft = createOptionDraft(() => storedOptions().body)
/** Shows no toasts once the user is signed out, because the notice already says so. */
export const toasts = createToasts(() => rest.signedIn() !== 'yes')
rest.subscribe(toasts.clear)
export const place = createLocation(vars.adminUrl, () => draft.isDirty())
// Responses that were preloaded for the first URL would be stale at the next one.
place.subscribe(() => vars.first?.clear())

export const queries = createQueries(rest.reread)

/** The query that reads all of the site's options. */
export const OPTIONS_QUERY = { key: ['options'], path: () => OPTIONS_PATH } as Query<SiteOptions>

/** Returns the site's options as the screen last read them. */
export function storedOptions(): Tagged<SiteOptions> {
  return queries.get(OPTIONS_QUERY) ?? { body: {}, tag: undefined }
}
