import '../styles/activity.css'
import { Fragment, memo, type ReactNode, useMemo, useState } from 'react'
import { Empty } from '../parts/feedback.tsx'
import { Select } from '../parts/fields.tsx'
import { PlaceLink } from '../parts/links.tsx'
import { ExportMenu } from '../parts/menu.tsx'
import { ListHead } from '../parts/panel.tsx'
import type { Query } from '../rest/queries.ts'
import { useQuery, useRefreshMs, useSignedIn } from '../rest/use-rest.ts'
import { place, queries } from '../screen.ts'
import { KeysHelp } from '../sessions/keyboard.tsx'
import { SearchBox, UnknownUser } from '../sessions/search.tsx'
import { IpAddress } from '../sessions/table/cells.tsx'
import { ListTable, MoreRows } from '../sessions/table/list-table.tsx'
import { type StillRow, useMorePages, useStillRows } from '../sessions/table/rows.ts'
import { ListFrame, TableCard } from '../sessions/table/table-card.tsx'
import { dateAndTime, dayName, exactTime, isoDay, startOfDay, timeAgo, timeOfDay } from '../sessions/time-words.ts'
import { nameOf, type Person } from '../sessions/use-sessions.ts'
import { ACTIVITY_TEXTS } from '../texts/activity-texts.ts'
import { addTexts, countKey, type TextKey, type Translate, useTexts } from '../texts/use-texts.ts'
import {
  type ActivityEvent,
  type ActivityView,
  activityQuery,
  EVENT_TYPES,
  foldEnds,
  PAGE_SIZE,
  PERIODS,
  queryOf,
  type ToldEvent,
  timesOf,
  toneOf,
  useIsNobody,
  viewIn,
  whatHappened,
  whoDidIt,
} from './activity-events.ts'
import { Dates, Summary, useCounts } from './activity-summary.tsx'

addTexts(ACTIVITY_TEXTS)

const KEYS = [
  ['/', 'key_search'],
  ['↑ ↓', 'key_move'],
  ['Enter', 'key_open'],
] as const

/** Renders the activity log, newest first. `query` comes from the URL. */
export function ActivityPage({ query }: { query: URLSearchParams }) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  const view = viewIn(query)
  const find = (text: string) => {
    const isAddress = /^(\d+\.){3}\d+$|:.*:/.test(text)
    place.setQuery(given({ ...view, user: isAddress ? '' : text, ip: isAddress ? text : '' }))
  }
  return (
    <section className="stack" aria-label={t('tab_activity')} inert={!isSignedIn}>
      <ListHead title={t('tab_activity')}>
        <KeysHelp keys={KEYS} />
        <ActivityExport view={view} />
      </ListHead>
      <Activity view={view} linkOf={given}>
        <SearchBox text={view.user || view.ip} takesAddresses onOpen={find} />
      </Activity>
    </section>
  )
}

/** Renders one user's activity, as part of their page. */
export function PersonActivity({ user, query }: { user: string; query: URLSearchParams }) {
  const view = { ...viewIn(query), user }
  return (
    <Activity view={view} linkOf={(one) => ({ ...given(one), part: 'activity' })} isPerson>
      <ActivityExport view={view} />
    </Activity>
  )
}

/** Returns the parts of a view that belong in the URL. */
function given(view: ActivityView): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== ''))
}

const FORMATS = [
  ['v_csv', 'csv'],
  ['v_jsonl', 'jsonl'],
] as const satisfies readonly (readonly [TextKey, string])[]

/** Renders the menu that exports the filtered events. The file name contains the filter. */
function ActivityExport({ view }: { view: ActivityView }) {
  const t = useTexts()
  const { user, ip, type } = view
  const [from = 0, to] = timesOf(view)
  const days = from === 0 ? [] : [isoDay(from), isoDay(to === undefined ? undefined : to - 1)]
  return (
    <ExportMenu
      words={['activity', user, ip, type, ...new Set(days)]}
      formats={FORMATS.map(([text, format]) => [t(text), format])}
      pathOf={(format) => `sessmgr/v1/audit/export?${queryOf(view, { format })}`}
    />
  )
}

type LinkOf = (view: ActivityView) => Readonly<Record<string, string>>

/** Reads events page by page, and refreshes them at intervals while only a few pages are shown. */
function useActivity(view: ActivityView) {
  const refreshMs = useRefreshMs()
  const key = JSON.stringify(view)
  const [shown, setShown] = useState('')
  if (shown !== key) {
    setShown(key)
    // Only Back and Forward restore the list as it was.
    if (!place.isBack()) queries.remove(activityQuery(view))
  }
  return useQuery(activityQuery(view), { everyMs: ({ length }) => length <= MOST_FRESH && refreshMs })
}

/** A list with more pages than this is not refreshed automatically. */
const MOST_FRESH = 4

interface ActivityProps {
  readonly view: ActivityView
  /** Whether all events are about one person, whom the rows need not name. */
  readonly isPerson?: boolean
  /** Returns the URL's query for a view. */
  readonly linkOf: LinkOf
  /** The search field, or the export menu on a person's page. */
  readonly children: ReactNode
}

/** Renders the filters and the events. */
function Activity({ view, isPerson = false, linkOf, children }: ActivityProps) {
  const found = useActivity(view)
  const counts = useCounts(view, found.data?.since, !isPerson)
  return (
    <ListFrame
      list={found}
      also={counts.found}
      view={view}
      failed="v_failed"
      line={
        <>
          {!isPerson && children}
          <Periods view={view} linkOf={linkOf} isPerson={isPerson} />
          <Select
            label="v_type"
            value={view.type}
            options={EVENT_TYPES}
            onChange={(type) => place.setQuery(linkOf({ ...view, type }))}
          />
          {isPerson && children}
        </>
      }
      summary={!isPerson && <Summary counts={counts} view={view} linkOf={linkOf} />}
    >
      {(pages) => <Events view={view} isPerson={isPerson} found={found} pages={pages} />}
    </ListFrame>
  )
}

/** Renders links that choose a period and put it in the URL. */
function Periods({ view, linkOf, isPerson }: Pick<ActivityProps, 'view' | 'linkOf'> & { isPerson: boolean }) {
  const t = useTexts()
  const periods = [
    ...Object.entries(PERIODS).map(([period, [text]]) => [period, text] as const),
    ['', 'v_ever'] as const,
  ]
  return (
    <ul className="chips" aria-label={t('v_period')}>
      {periods.map(([period, text]) => (
        <li key={period}>
          <PlaceLink
            className="chip"
            tab={isPerson ? 'sessions' : 'activity'}
            query={linkOf({ ...view, period: period as ActivityView['period'], from: '', to: '' })}
            aria-current={isOwn(view) || view.period !== period ? undefined : 'true'}
          >
            {t(text)}
          </PlaceLink>
        </li>
      ))}
      <li>
        <Dates view={view} linkOf={linkOf} />
      </li>
    </ul>
  )
}

const isOwn = ({ from, to }: ActivityView) => from !== '' || to !== ''

type FoundEvents = ReturnType<typeof useActivity>

/** Renders events by day. New ones wait until the user asks for them, so that no row moves by itself. */
function Events({
  view,
  isPerson,
  found,
  pages,
}: {
  view: ActivityView
  isPerson: boolean
  found: FoundEvents
  pages: NonNullable<FoundEvents['pages']>
}) {
  const t = useTexts()
  const { data: first, error, hasMore } = found
  const events = useMemo(() => foldEnds(pages.flatMap(({ events }) => events)), [pages])
  const { rows, waiting, show } = useStillRows(events, ({ id }) => id, { pages: pages.length, isWhole: false })
  const more = useMorePages(found, { rows: rows.length, pages: pages.length, size: PAGE_SIZE })
  const [from = 0] = timesOf(view)
  const since = first?.since ?? 0
  // A period within the log does not reach back to its start.
  const start = since > from ? dateAndTime(since) : undefined
  const counts = countByDay(rows)
  // The next page may contain more events of the last day.
  if (hasMore) counts.delete(startOfDay(rows.at(-1)?.item.at ?? 0))

  return (
    <TableCard
      hasFailed={error !== undefined}
      state={rows[0]?.key ?? ''}
      news={waiting > 0 && (waiting >= PAGE_SIZE ? t('v_new_many') : t(countKey('v_new', waiting), { count: waiting }))}
      onShow={() => show(events)}
    >
      {rows.length > 0 ? (
        <ListTable
          label={t('tab_activity')}
          className={isPerson ? 'event-table of-person' : 'event-table'}
          head={(isPerson ? COLUMNS.filter((column) => column !== 'v_who') : COLUMNS).map((column) => (
            <th key={column}>{t(column)}</th>
          ))}
          rows={rows}
          more={
            <MoreRows label={hasMore && t('v_more', { count: PAGE_SIZE })} {...more}>
              {!hasMore && t('v_all_shown')} {!hasMore && start && t('v_counted_since', { start })}{' '}
              {!hasMore && first?.kept === 'process' && t('v_process')}
            </MoreRows>
          }
        >
          {(row, isCurrent, before) => (
            <EventRows
              key={row.key}
              row={row}
              isFirst={before === undefined || startOfDay(before.item.at) !== startOfDay(row.item.at)}
              count={counts.get(startOfDay(row.item.at))}
              isPerson={isPerson}
              isCurrent={isCurrent}
            />
          )}
        </ListTable>
      ) : (
        <Nothing view={view} start={start} />
      )}
    </TableCard>
  )
}

/** Counts the events of each day. */
function countByDay(rows: readonly StillRow<ToldEvent>[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { item } of rows) {
    counts.set(startOfDay(item.at), (counts.get(startOfDay(item.at)) ?? 0) + 1 + (item.ended?.length ?? 0))
  }
  return counts
}

const COLUMNS: readonly TextKey[] = ['v_when', 'v_who', 'v_what', 'v_device']

function Nothing({ view, start = '' }: { view: ActivityView; start: string | undefined }) {
  const t = useTexts()
  const isNobody = useIsNobody(view.user)
  if (Object.keys(given(view)).length === 0) {
    return (
      <Empty icon="info" title={t('v_empty', { start })}>
        {t('v_empty_help')}
      </Empty>
    )
  }
  if (isNobody) return <UnknownUser text={view.user} tab="activity" query={given(view)} />
  return (
    <Empty icon="search" title={t('v_no_match')}>
      {start && `${t('v_counted_since', { start })} `}
      {t('v_no_match_help', { all: t('v_all') })}
    </Empty>
  )
}

/** Renders one event, after the heading of its day if it is the day's first. */
const EventRows = memo(function EventRows({
  row: { key, item: event },
  isFirst,
  count,
  isPerson,
  isCurrent,
}: {
  row: StillRow<ToldEvent>
  /** Whether the event is the first of its day. */
  isFirst: boolean
  /** How many events the day has; undefined if unknown. */
  count: number | undefined
  isPerson: boolean
  isCurrent: boolean
}) {
  const t = useTexts()
  const { at, type, user, device, ip, place: near } = event
  const who = whoDidIt(t, event)
  const where = near ?? (ip && <IpAddress ip={ip} />)
  const tabIndex = isCurrent ? 0 : -1
  return (
    <>
      {isFirst && (
        <tr className="day">
          <th colSpan={4} scope="colgroup">
            {dayName(at)}
            {count !== undefined && <span>{t(countKey('v_count', count), { count })}</span>}
          </th>
        </tr>
      )}
      <tr tabIndex={tabIndex} data-row={key}>
        <td className="event-when">
          <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
            {timeOfDay(at)}
          </time>
        </td>
        {!isPerson && (
          <td className="event-who">
            {user?.login !== undefined && (
              <PlaceLink query={{ user: user.login }} tabIndex={tabIndex} data-opens>
                <bdi>{nameOf(user)}</bdi>
              </PlaceLink>
            )}
            {/* A deleted user, or one whose id was hashed, cannot be looked up. */}
            {user && user.login === undefined && <bdi>{nameOf(user)}</bdi>}
            {type === 'logout.all' && t('v_everyone')}
          </td>
        )}
        <td className={`event-what ${toneOf(event)}`}>
          <bdi>{whatHappened(t, event)}</bdi>
          {who !== undefined && <bdi className="help">{t('v_by', { name: who })}</bdi>}
          {event.ended && <bdi className="help">{t('v_ended_with', { devices: devicesOf(event.ended, t) })}</bdi>}
        </td>
        <td className="event-device">
          {device && <bdi>{device}</bdi>}
          {where && (
            <bdi className="help number" title={ip}>
              {where}
            </bdi>
          )}
        </td>
      </tr>
    </>
  )
})

/** How many sessions the row of a login names that has ended them. The "Signed out" filter lists them all. */
const MOST_NAMED = 3

/** Names the devices and places of ended sessions. */
function devicesOf(ended: readonly ActivityEvent[], t: Translate): string {
  const names = ended.map(({ device, place: near, ip }) => [device, near ?? ip].filter(Boolean).join(', '))
  const more = names.length - MOST_NAMED
  const named = more > 1 ? [...names.slice(0, MOST_NAMED), t('v_ended_more', { count: more })] : names
  return named.join('; ')
}

/** Renders when and why a user's last session ended, and whether everyone was signed out later, if the log knows. */
export function LastEnd({ user: { id, login } }: { user: Person }) {
  const t = useTexts()
  const own = useLast({ type: 'session.ended', user: login || String(id) })
  const all = useLast({ type: 'logout.all' })
  // The login name of one user can be the id of another.
  const end = own?.user?.id === id ? own : undefined
  const ends = all && all.at > (end?.at ?? 0) ? [all, end] : [end]
  return ends.map((event) => {
    if (!event) return null
    const who = whoDidIt(t, event)
    const what = whatHappened(t, event)
    return (
      <Fragment key={event.id}>
        <br />
        {t('last_end', {
          what: who === undefined ? what : `${what} ${t('v_by', { name: who })}`,
          when: timeAgo(event.at),
        })}
      </Fragment>
    )
  })
}

/** Reads the last event of a type, of one user or of all. */
function useLast(parameters: Readonly<Record<string, string>>): ActivityEvent | undefined {
  const query: Query<{ readonly events: readonly ActivityEvent[] }> = {
    key: ['last-event', parameters],
    path: () => `sessmgr/v1/audit?${new URLSearchParams({ ...parameters, limit: '1' })}`,
    failsAtOnce: true,
  }
  const { data } = useQuery(query)
  return Array.isArray(data?.events) ? data.events[0] : undefined
}
