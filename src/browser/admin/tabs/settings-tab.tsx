import { useSyncExternalStore } from 'react'
import { useOptions } from '../options/use-options.ts'
import { Failed, Notice, PartBoundary, Skeleton } from '../parts/feedback.tsx'
import { hookChanges, hooks } from '../screen.ts'
import { isComponent, type PanelEntry } from '../shell/entries.ts'
import { latePart, useFramed } from '../shell/late-part.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { ForceLogoutPanel } from './force-logout-panel.tsx'
import { GeneralPanel } from './general-panel.tsx'

const PasswordsPanel = latePart(async () => (await import('./passwords-panel.tsx')).PasswordsPanel)

/** Renders the tab with the settings of the limit, the add-on panels, the forced logout, and application passwords. */
export function SettingsTab() {
  const t = useTexts()
  const { data, error, refetch, isFetching } = useOptions()
  const panels = usePanels()
  const isFramed = useFramed()
  if (!data) return error ? <Failed error={error} retry={refetch} isRetrying={isFetching} /> : <Skeleton />
  return (
    <div className="stack">
      <ReportOnly />
      <GeneralPanel />
      {panels.map(({ id, Component }) => (
        <PartBoundary key={id} name={id}>
          <Component />
        </PartBoundary>
      ))}
      {isFramed && (
        <>
          <ForceLogoutPanel />
          <PartBoundary name={t('p_title')}>
            <PasswordsPanel />
          </PartBoundary>
        </>
      )}
    </div>
  )
}

/** Renders the banner that is shown while the saved settings do not enforce the limit. */
function ReportOnly() {
  const t = useTexts()
  const settings = useOptions().data?.sessmgr_settings as { enforce?: boolean } | undefined
  if (settings?.enforce !== false) return null
  return (
    <Notice tone="warning" title={t('report_only')}>
      {t('report_only_help')}
    </Notice>
  )
}

/** Returns the add-on panels in order. Of panels with the same id, only the last is included. */
function usePanels(): readonly PanelEntry[] {
  useSyncExternalStore(hookChanges.subscribe, hookChanges.version)
  const entries: unknown = hooks.applyFilters('sessmgr.settings.panels', [])
  const good = (Array.isArray(entries) ? entries : []).filter(isPanel)
  return [...new Map(good.map((entry) => [entry.id, entry])).values()]
}

function isPanel(entry: unknown): entry is PanelEntry {
  const { id, Component } = (entry ?? {}) as Partial<PanelEntry>
  return typeof id === 'string' && id !== '' && isComponent(Component)
}
