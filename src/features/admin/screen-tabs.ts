// What the page and its script must agree on. The script bundles parts of this file, so keep the file free of imports.

export const OPTIONS_PATH = 'wp/v2/settings'
export const SUMMARY_PATH = 'sessmgr/v1/people/summary'
export const ADDONS_PATH = 'sessmgr/v1/addons'
export const SUPPORT_PATH = 'sessmgr/v1/support'

/** The user who sees the screen. */
export interface ScreenUser {
  readonly id: string | number
  readonly name: string
}

/** Number of people on a page of the list. */
export const PEOPLE_PER_PAGE = 50

/** Initial filter and order of the list of people. */
export const FIRST_VIEW = { show: 'all', sort: 'recent' } as const

/** Returns the REST path that lists people, starting at a cursor. */
export function peoplePath(view: { show: string; sort: string; than?: string }, cursor = ''): string {
  const query = { ...view, limit: String(PEOPLE_PER_PAGE), ...(cursor && { cursor }) }
  return `sessmgr/v1/people?${new URLSearchParams(query)}`
}

/** Returns the REST path that lists a user's sessions, starting after a position. */
export function sessionsPath(user: string, after?: string): string {
  const query = { user, ...(after && { after }) }
  return `sessmgr/v1/sessions?${new URLSearchParams(query)}`
}

/** Key of a built-in tab, and the last part of its URL. */
export type ScreenTab = 'sessions' | 'activity' | 'settings' | 'comments' | 'addons' | 'support'

/** A built-in tab, as the page describes it to the script. */
export interface BuiltInTab {
  readonly key: ScreenTab
  /** Whether the tab takes the full width. */
  readonly wide?: boolean
  /** Whether the tab has nothing to show. Add-ons still find it, to place their own tabs beside it or to replace it. */
  readonly isIdle?: boolean
}

/** The built-in tabs, in order. */
const TABS: readonly BuiltInTab[] = [
  { key: 'sessions', wide: true },
  { key: 'activity', wide: true },
  { key: 'settings' },
  { key: 'comments' },
  { key: 'addons', wide: true },
  { key: 'support' },
]

/** Key of the tab that opens at the screen's own URL. */
export const FIRST_TAB: ScreenTab = 'sessions'

/** Which of the optional tabs to show. */
export interface ShownTabs {
  /** The only tab that the user may see; undefined means all. */
  readonly only: 'comments' | undefined
  /** Whether the user may manage the lazy comments. */
  readonly hasComments: boolean
  /** Whether the Add-ons tab has anything to show. */
  readonly hasAddons: boolean
  /** Whether the activity is recorded. */
  readonly hasActivity: boolean
}

/** Returns the built-in tabs for a user. */
export function tabsFor({ only, hasComments, hasAddons, hasActivity }: ShownTabs): readonly BuiltInTab[] {
  const shown: Readonly<Record<string, boolean>> = { comments: hasComments, activity: hasActivity }
  const tabs = TABS.filter(({ key }) => (only ? key === only : shown[key] !== false))
  return hasAddons ? tabs : tabs.map((tab) => (tab.key === 'addons' ? { ...tab, isIdle: true } : tab))
}

/** Name of a file that the screen loads on demand, without its extension. */
export type ScreenPart =
  | 'people-page'
  | 'person-page'
  | 'activity-page'
  | `${Exclude<ScreenTab, 'sessions' | 'activity'>}-tab`

/** What a tab needs before it can show anything. */
interface FirstNeeds {
  /** The tab's file, and the files that it loads immediately. */
  readonly parts: readonly ScreenPart[]
  /** REST routes that the tab reads. */
  readonly calls: readonly string[]
}

const NEEDS: Readonly<Record<Exclude<ScreenTab, 'sessions'>, FirstNeeds>> = {
  activity: { parts: ['activity-page'], calls: [] },
  settings: { parts: ['settings-tab'], calls: [OPTIONS_PATH, SUMMARY_PATH] },
  comments: { parts: ['comments-tab'], calls: [OPTIONS_PATH] },
  addons: { parts: ['addons-tab'], calls: [ADDONS_PATH] },
  support: { parts: ['support-tab'], calls: [SUPPORT_PATH] },
}

/**
 * Returns what a tab needs first. The page loads it in parallel with the script, which would otherwise load one part
 * after the other.
 */
export function firstNeeds(tab: string, query: URLSearchParams, hasDirectory: boolean): FirstNeeds {
  if (tab !== 'sessions') {
    const { parts, calls } = Object.hasOwn(NEEDS, tab) ? NEEDS[tab as keyof typeof NEEDS] : { parts: [], calls: [] }
    return { parts, calls: hasDirectory ? calls : calls.filter((path) => path !== SUMMARY_PATH) }
  }
  const user = query.get('user')
  if (user) return { parts: ['person-page'], calls: [sessionsPath(user)] }
  const isFiltered = query.has('show') || query.has('sort')
  const calls = [SUMMARY_PATH, ...(isFiltered ? [] : [peoplePath(FIRST_VIEW)])]
  return { parts: ['people-page'], calls: hasDirectory ? calls : [] }
}
