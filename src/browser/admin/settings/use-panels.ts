import { useSyncExternalStore } from 'react'
import { hookChanges, hooks } from '../screen.ts'
import { isComponent, type PanelEntry } from '../shell/entries.ts'

/** Returns the add-on panels in order. Of panels with the same id, only the last is included. */
export function usePanels(): readonly PanelEntry[] {
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const entries: unknown = hooks.applyFilters('sessmgr.settings.panels', [])
  const good = (Array.isArray(entries) ? entries : []).filter(isPanel)
  return [...new Map(good.map((entry) => [entry.id, entry])).values()]
}

function isPanel(entry: unknown): entry is PanelEntry {
  const { id, Component } = (entry ?? {}) as Partial<PanelEntry>
  return typeof id === 'string' && id !== '' && isComponent(Component)
}
