import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/feedback/empty.tsx'
import { useFailureText } from '../rest/use-failure-text.ts'
import { RefreshButton } from '../sessions/table/refresh-button.tsx'
import { TableBar } from '../sessions/table/table-bar.tsx'
import { useSteadyClicks } from '../sessions/table/use-steady-clicks.ts'
import { dateAndTime } from '../sessions/time-words.ts'
import { countKey, type TextKey, useTexts } from '../texts/use-texts.ts'
import { EventRow } from './event-row.tsx'
import { type ActivityView, PAGE_SIZE, type useActivity, useIsNobody } from './use-activity.ts'

type Found = ReturnType<typeof useActivity>

const COLUMNS: readonly TextKey[] = ['v_when', 'v_who', 'v_what', 'v_device', 'v_by']

/** Renders the events as a table. New ones wait until the user asks for them, so that no row moves by itself. */
export function EventList({
  view,
  found,
  page: { since, kept },
}: {
  view: ActivityView
  found: Found
  page: NonNullable<Found['first']['data']>
}) {
  const t = useTexts()
  const { first, events = [], news, isGap, show } = found
  const keepSteady = useSteadyClicks(events[0]?.id ?? '')
  const start = dateAndTime(since)
  const newWords = isGap ? t('v_new_many') : t(countKey('v_new', news.length), { count: news.length })
  return (
    <div className={first.error ? 'table-card stale' : 'table-card'} onClickCapture={keepSteady}>
      <TableBar
        updatedAt={first.dataUpdatedAt}
        isFailing={first.error !== null}
        news={news.length > 0 && newWords}
        onShow={show}
      >
        <RefreshButton
          isReading={first.isFetching}
          onRefresh={() => void first.refetch().then(({ data }) => data && found.restart(data))}
        />
      </TableBar>
      {events.length > 0 ? (
        <table className="event-table" aria-label={t('tab_activity')}>
          <thead>
            <tr>
              {COLUMNS.map((column) => (
                <th key={column}>{t(column)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <EventRow key={event.id} event={event} />
            ))}
          </tbody>
        </table>
      ) : (
        <Nothing view={view} start={start} />
      )}
      <More found={found} start={start} isProcess={kept === 'process'} />
    </div>
  )
}

function Nothing({ view: { type, user }, start }: { view: ActivityView; start: string }) {
  const t = useTexts()
  const isNobody = useIsNobody(user)
  if (type === '' && user === '') {
    return (
      <Empty icon="info" title={t('v_empty', { start })}>
        {t('v_empty_help')}
      </Empty>
    )
  }
  if (isNobody) return <Empty icon="search" title={t('nobody_called', { text: user })} />
  return (
    <Empty icon="search" title={t('v_no_match', { start })}>
      {t('v_no_match_help', { all: t('v_all') })}
    </Empty>
  )
}

/** Renders the button for earlier events, or says that there are no more. */
function More({
  found: { events, next, more },
  start,
  isProcess,
}: {
  found: Found
  start: string
  isProcess: boolean
}) {
  const t = useTexts()
  const textOf = useFailureText()
  if (next !== undefined) {
    return (
      <p className="more-rows">
        <Button tone="quiet" busy={more.isPending && t('loading')} onClick={() => more.mutate(next)}>
          {t('v_more', { count: PAGE_SIZE })}
        </Button>
        {more.error && <span role="alert">{textOf(more.error, 'v_failed')}</span>}
      </p>
    )
  }
  const isAll = events && events.length > 0
  if (!isAll && !isProcess) return null
  return (
    <p className="more-rows">
      {isAll && <span>{t('v_since', { start })}</span>}
      {isProcess && <span>{t('v_process')}</span>}
    </p>
  )
}
