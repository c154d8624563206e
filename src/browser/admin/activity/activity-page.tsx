import { ExportMenu } from '../parts/export-menu.tsx'
import { Failed } from '../parts/feedback/failed.tsx'
import { ListHead } from '../parts/list-head.tsx'
import { useSignedIn } from '../rest/use-signed-in.ts'
import { RowBones } from '../sessions/table/table-skeleton.tsx'
import { useTexts } from '../texts/use-texts.ts'
import { ActivityFilters } from './activity-filters.tsx'
import { EventList } from './event-list.tsx'
import { type ActivityView, queryOf, useActivity } from './use-activity.ts'
import './activity.css'

const FORMATS = [
  ['CSV', 'csv', 'csv'],
  ['JSON lines', 'jsonl', 'jsonl'],
  ['OCSF', 'ocsf', 'ocsf.jsonl'],
  ['CAEP', 'caep', 'caep.jsonl'],
] as const

/** Renders what happened, newest first. */
export function ActivityPage({ view }: { view: ActivityView }) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  return (
    <section className="stack" aria-label={t('tab_activity')} inert={!isSignedIn}>
      <ListHead title={t('tab_activity')} help={t('v_help')}>
        <ExportMenu
          formats={FORMATS.map(([label, format, ending]) => ({
            label,
            path: `sessmgr/v1/audit/export?${queryOf(view, { format })}`,
            file: `activity.${ending}`,
          }))}
        />
      </ListHead>
      <ActivityFilters key={view.user} view={view} />
      <Events key={JSON.stringify(view)} view={view} />
    </section>
  )
}

function Events({ view }: { view: ActivityView }) {
  const found = useActivity(view)
  const { data, error, refetch, isFetching } = found.first
  if (data) return <EventList view={view} found={found} page={data} />
  if (error) return <Failed error={error} fallback="v_failed" retry={refetch} isRetrying={isFetching} />
  return <RowBones />
}
