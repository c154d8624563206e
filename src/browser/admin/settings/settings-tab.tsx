import { useOptions } from '../options/use-options.ts'
import { Failed } from '../parts/feedback/failed.tsx'
import { PartBoundary } from '../parts/feedback/part-boundary.tsx'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { ForceLogoutPanel } from './force-logout-panel.tsx'
import { GeneralPanel } from './general-panel.tsx'
import { ReportOnly } from './report-only.tsx'
import { usePanels } from './use-panels.ts'

/** Renders the tab with the settings of the limit, the add-on panels, and the forced logout. */
export function SettingsTab() {
  const { data, error, refetch, isFetching } = useOptions()
  const panels = usePanels()
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
      <ForceLogoutPanel />
    </div>
  )
}
