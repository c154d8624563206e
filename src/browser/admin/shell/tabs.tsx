import { type ComponentType, Suspense, useSyncExternalStore } from 'react'
import type { ScreenTab } from '../../../features/admin/screen-tabs.ts'
import { Skeleton, TableSkeleton } from '../parts/feedback.tsx'
import { builtInTabs, hookChanges, hooks, onlyTab, place } from '../screen.ts'
import type { ActivityView } from '../tabs/activity-events.ts'
import { useTexts } from '../texts/use-texts.ts'
import { arrangeTabs, type TabEntry } from './entries.ts'
import { useFramed } from './late-part.tsx'
import { LATE_PARTS } from './late-parts.ts'

const { 'people-page': PeoplePage, 'person-page': PersonPage, 'activity-page': ActivityPage } = LATE_PARTS

const COMPONENTS: Readonly<Record<ScreenTab, ComponentType>> = {
  sessions: SessionsTab,
  activity: ActivityTab,
  settings: LATE_PARTS['settings-tab'],
  comments: LATE_PARTS['comments-tab'],
  addons: LATE_PARTS['addons-tab'],
  support: LATE_PARTS['support-tab'],
}

/** Returns the tabs, and the open tab if the URL names one. */
export function useTabs(): { tabs: readonly TabEntry[]; open: TabEntry | undefined; key: string } {
  const t = useTexts()
  // An add-on that loads late may change the tabs.
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const key = useSyncExternalStore(place.subscribe, place.key)
  const builtIn: readonly TabEntry[] = builtInTabs.map(({ key, wide }) => ({
    key,
    label: t(`tab_${key}`),
    component: COMPONENTS[key],
    wide,
  }))
  const filtered: unknown = hooks.applyFilters('sessmgr.admin.tabs', builtIn)
  const all = arrangeTabs(Array.isArray(filtered) ? filtered : builtIn)
  const tabs = onlyTab ? all.filter((tab) => tab.key === onlyTab) : all
  return { tabs, open: key === '' ? tabs[0] : tabs.find((tab) => tab.key === key), key }
}

/** Renders everybody who is signed in, or the sessions of the user that the URL names. */
function SessionsTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const user = query.get('user') ?? ''
  const outline = <TableSkeleton isPerson={user !== ''} />
  if (!useFramed()) return outline
  return (
    <Suspense fallback={outline}>
      {user === '' ? <PeoplePage query={query} /> : <PersonPage key={user} user={user} />}
    </Suspense>
  )
}

/** Renders the tab that shows what happened. The URL contains the filter, so that it can be shared and reloaded. */
function ActivityTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const view: ActivityView = { type: query.get('type') ?? '', user: query.get('user') ?? '' }
  return (
    <Suspense fallback={<Skeleton panels={1} />}>
      <ActivityPage view={view} />
    </Suspense>
  )
}
