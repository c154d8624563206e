import { Suspense, useSyncExternalStore } from 'react'
import { Skeleton, TableSkeleton } from '../parts/feedback.tsx'
import { hasComments, hookChanges, hooks, onlyTab, place } from '../screen.ts'
import type { ActivityView } from '../tabs/use-activity.ts'
import { useTexts } from '../texts/use-texts.ts'
import { arrangeTabs, type TabEntry } from './entries.ts'
import { useFramed } from './late-part.tsx'
import { LATE_PARTS } from './late-parts.ts'

/** Returns the tabs, and the open tab if the URL names one. */
export function useTabs(): { tabs: readonly TabEntry[]; open: TabEntry | undefined; key: string } {
  const t = useTexts()
  // An add-on that loads late may change the tabs.
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const key = useSyncExternalStore(place.subscribe, place.key)
  const builtIn: readonly TabEntry[] = [
    { key: 'sessions', label: t('tab_sessions'), component: SessionsTab, wide: true },
    { key: 'activity', label: t('tab_activity'), component: ActivityTab, wide: true },
    { key: 'settings', label: t('tab_settings'), component: LATE_PARTS.settings },
    ...(hasComments ? [{ key: 'comments', label: t('tab_comments'), component: LATE_PARTS.comments }] : []),
    { key: 'addons', label: t('tab_addons'), component: LATE_PARTS.addons, wide: true },
    { key: 'support', label: t('tab_support'), component: LATE_PARTS.support },
  ]
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
      {user === '' ? <LATE_PARTS.people query={query} /> : <LATE_PARTS.person key={user} user={user} />}
    </Suspense>
  )
}

/** Renders the tab that shows what happened. The URL contains the filter, so that it can be shared and reloaded. */
function ActivityTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const view: ActivityView = { type: query.get('type') ?? '', user: query.get('user') ?? '' }
  return (
    <Suspense fallback={<Skeleton panels={1} />}>
      <LATE_PARTS.activity view={view} />
    </Suspense>
  )
}
