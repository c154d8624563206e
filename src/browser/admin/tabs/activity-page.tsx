import { useQuery } from '@tanstack/react-query'
import { memo, type SyntheticEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Empty, Failed, RowBones } from '../parts/feedback.tsx'
import { EXACT, Select } from '../parts/fields.tsx'
import { Icon } from '../parts/icon.tsx'
import { PlaceLink } from '../parts/links.tsx'
import { ExportMenu } from '../parts/menu.tsx'
import { ListHead } from '../parts/panel.tsx'
import { useFailureText, useSignedIn } from '../rest/use-rest.ts'
import { place, rest } from '../screen.ts'
import { Moment } from '../sessions/table/cells.tsx'
import { TableCard, useSteadyClicks } from '../sessions/table/table-card.tsx'
import { dateAndTime, timeAgo } from '../sessions/time-words.ts'
import { nameOf, type Person } from '../sessions/use-sessions.ts'
import { countKey, type TextKey, useTexts } from '../texts/use-texts.ts'
import {
  type ActivityEvent,
  type ActivityView,
  EVENT_TYPES,
  PAGE_SIZE,
  queryOf,
  useActivity,
  useIsNobody,
  whatHappened,
  whoDidIt,
} from './activity-events.ts'
import '../styles/activity.css'

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
          name="activity"
          formats={FORMATS}
          pathOf={(format) => `sessmgr/v1/audit/export?${queryOf(view, { format })}`}
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

/** Renders the choice of what is shown, and about whom. */
function ActivityFilters({ view }: { view: ActivityView }) {
  const t = useTexts()
  const [user, setUser] = useState(view.user)

  function show(change: Partial<ActivityView>): void {
    const entries = Object.entries({ ...view, ...change }).filter(([, value]) => value !== '')
    place.setQuery(Object.fromEntries(entries))
  }

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    show({ user: user.trim() })
  }

  return (
    <form className="search-line activity-filters" onSubmit={submit}>
      <div className="search-box">
        <Icon name="search" />
        <input
          type="search"
          aria-label={t('v_user')}
          placeholder={t('v_user')}
          value={user}
          {...EXACT}
          onChange={({ target }) => setUser(target.value)}
        />
      </div>
      <Button type="submit">{t('v_find')}</Button>
      <Select label="v_type" value={view.type} options={EVENT_TYPES} onChange={(type) => show({ type })} />
    </form>
  )
}

type Found = ReturnType<typeof useActivity>

const COLUMNS: readonly TextKey[] = ['v_when', 'v_who', 'v_what', 'v_device', 'v_by']

/** Renders the events as a table. New ones wait until the user asks for them, so that no row moves by itself. */
function EventList({
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
    <TableCard
      list={first}
      news={news.length > 0 && newWords}
      onShow={show}
      onRefresh={found.restart}
      onClickCapture={keepSteady}
    >
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
    </TableCard>
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

/** Renders one event. */
const EventRow = memo(function EventRow({ event }: { event: ActivityEvent }) {
  const t = useTexts()
  const { at, type, user, device, ip } = event
  const isRefusal = type === 'login.refused'
  return (
    <tr>
      <td className="event-when">
        <Moment seconds={Math.floor(at / 1000)} />
        <span className="help">{dateAndTime(at)}</span>
      </td>
      <td className="event-who">
        {user?.login !== undefined && (
          <PlaceLink query={{ user: user.login }}>
            <bdi>{nameOf(user)}</bdi>
          </PlaceLink>
        )}
        {/* A deleted user, or one whose id was hashed, cannot be looked up. */}
        {user && user.login === undefined && <bdi>{nameOf(user)}</bdi>}
        {type === 'logout.all' && t('v_everyone')}
      </td>
      <td className={isRefusal ? 'event-what refused' : 'event-what'}>
        <bdi>{whatHappened(t, event)}</bdi>
      </td>
      <td className="event-device">
        {device && <bdi>{device}</bdi>}
        {ip && (
          <span className="help number">
            <bdi>{ip}</bdi>
          </span>
        )}
      </td>
      <td className="event-by">
        <span className="small-only">{t('v_by')}: </span>
        <bdi>{whoDidIt(t, event)}</bdi>
      </td>
    </tr>
  )
})

/** Renders when and why a user's last session ended, if the activity log knows. */
export function LastEnd({ user: { id, login } }: { user: Person }) {
  const t = useTexts()
  const query = queryOf({ type: 'session.ended', user: login || String(id) }, { limit: '1' })
  const { data } = useQuery({
    queryKey: ['activity', 'last-end', id],
    queryFn: () => rest.request<{ readonly events: readonly ActivityEvent[] }>('GET', `sessmgr/v1/audit?${query}`),
    retry: false,
  })
  const [event] = Array.isArray(data?.events) ? data.events : []
  // The login name of one user can be the id of another.
  if (!event || event.user?.id !== id) return null
  return (
    <>
      <br />
      {t('last_end', { what: whatHappened(t, event), when: timeAgo(event.at) })}
    </>
  )
}
