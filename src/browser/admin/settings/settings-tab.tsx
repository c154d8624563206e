import { latePart } from '../loading/late-part.tsx'
import { useFramed } from '../loading/use-framed.ts'
import { useOptions } from '../options/use-options.ts'
import { Failed } from '../parts/feedback/failed.tsx'
import { PartBoundary } from '../parts/feedback/part-boundary.tsx'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { ForceLogoutPanel } from './force-logout-panel.tsx'
import { GeneralPanel } from './general-panel.tsx'
import { ReportOnly } from './report-only.tsx'
import { usePanels } from './use-panels.ts'

const PasswordsPanel = latePart(async () => (await import('../passwords/passwords-panel.tsx')).PasswordsPanel)

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
