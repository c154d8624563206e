import { useSyncExternalStore } from 'react'
import { ActivityTab } from '../activity/activity-tab.tsx'
import { LATE_PARTS } from '../loading/late-parts.ts'
import { hasComments, hookChanges, hooks, onlyTab, place } from '../screen.ts'
import { SessionsTab } from '../sessions/sessions-tab.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { arrangeTabs } from './arrange-tabs.ts'
import type { TabEntry } from './entries.ts'

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
