import { type FormEvent, useId, useRef, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { PlaceLink } from '../parts/links.tsx'
import type { Query } from '../rest/queries.ts'
import { serverNow } from '../rest/server-clock.ts'
import { useQuery, useRefreshMs } from '../rest/use-rest.ts'
import { place } from '../screen.ts'
import { periodInWords } from '../sessions/time-words.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'
import { ActivityBars, type CountedPart } from './activity-bars.tsx'
import { type ActivityView, type EventUser, queryOf, timesOf } from './activity-events.ts'

/** How often people were at their limit, and how many events each part of a period has. */
interface ActivityCounts {
  readonly parts: readonly CountedPart[]
  readonly people: readonly PersonAtLimit[]
  readonly since: number
}

interface PersonAtLimit {
  readonly user: EventUser
  readonly displaced: number
  readonly refused: number
  readonly would_limit: number
  readonly addresses: number
  readonly places: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The lengths of a bar, in minutes. */
const STEPS = [1, 5, 15, 60, 180, 1440, 7 * 1440]
const MOST_BARS = 60
/** How many people the ranking names at first, how many more at a time, and at most. */
const NAMED = { first: 5, more: 20, most: 100 }
/** A person in more places than this stands out. */
const FEW_PLACES = 3

interface SummaryProps {
  readonly view: ActivityView
  /** Returns the URL's query for a view. */
  readonly linkOf: (view: ActivityView) => Readonly<Record<string, string>>
}

/**
 * Counts the events of a view.
 *
 * @param since Time of the oldest event, once it is known.
 */
export function useCounts(view: ActivityView, since: number | undefined, isNeeded: boolean) {
  const [start, end] = timesOf(view)
  const refreshMs = useRefreshMs()
  const from = start ?? since
  const now = Math.ceil(serverNow() / MINUTE_MS) * MINUTE_MS
  const to = Math.max(Math.min(end ?? now, now), (from ?? 0) + MINUTE_MS)
  const length = to - (from ?? to)
  const step =
    MINUTE_MS *
    (STEPS.find((minutes) => length / MINUTE_MS / minutes <= MOST_BARS) ?? Math.ceil(length / MINUTE_MS / MOST_BARS))
  const [named, setNamed] = useState(NAMED.first)
  const query: Query<ActivityCounts> = {
    // The end moves with the clock, but the view stays the same.
    key: ['activity-counts', view, from, step, named],
    path() {
      const times = { period: '', from: String(from), to: String(to) } as const
      // One more shows whether there are more.
      const limit = Math.min(named + 1, NAMED.most)
      return `sessmgr/v1/audit/counts?${queryOf({ ...view, ...times }, { step: String(step), limit: String(limit) })}`
    },
  }
  const found = useQuery(query, { isNeeded: isNeeded && from !== undefined, everyMs: () => refreshMs && MINUTE_MS })
  return { found, from, to, step, named, setNamed }
}

/** Renders the events of the period as bars, and who was at the limit most often. */
export function Summary({
  counts: { found, from, to, step, named, setNamed },
  view,
  linkOf,
}: SummaryProps & { counts: ReturnType<typeof useCounts> }) {
  const period = JSON.stringify([view, from, step])
  // Until the counts of another period are there, those of the last one only keep the height.
  const last = useRef({ data: found.data, period })
  if (found.data) last.current = { data: found.data, period }
  const { data } = last.current
  const isOther = last.current.period !== period
  if (from === undefined || !Array.isArray(data?.parts) || (isOther && found.error)) return <div className="summary" />
  const isNarrowed = view.user !== '' || view.ip !== ''
  return (
    <div className="summary" aria-busy={isOther}>
      <ActivityBars counts={data} from={from} to={to} step={step} onChoose={choose} />
      {!isNarrowed && (
        <Ranking
          people={data.people}
          named={named}
          view={view}
          linkOf={linkOf}
          onMore={() => setNamed(Math.min(named + NAMED.more, NAMED.most))}
        />
      )}
    </div>
  )

  function choose(first: number, last: number): void {
    place.setQuery(linkOf({ ...view, period: '', from: String(first), to: String(last) }))
  }
}

/** Renders who was at the limit most often. On a narrow screen, it opens on demand, because the log is below it. */
function Ranking({
  people,
  named,
  view,
  linkOf,
  onMore,
}: SummaryProps & {
  people: readonly PersonAtLimit[]
  /** How many people to name. */
  named: number
  onMore: () => void
}) {
  const t = useTexts()
  const list = useRef<HTMLUListElement>(null)
  const [isOpen] = useState(() => !matchMedia('(max-width: 60rem)').matches)
  const total = ({ displaced, refused, would_limit }: PersonAtLimit) => displaced + refused + would_limit
  const highest = Math.max(1, ...people.map(total))

  function showMore(): void {
    // The button disappears. From the last person, Tab leads to the next one.
    list.current?.querySelector<HTMLElement>('li:last-child a')?.focus({ preventScroll: true })
    onMore()
  }

  return (
    <details className="summary-part" open={isOpen}>
      <summary>
        <h3>{t('v_at_limit')}</h3>
      </summary>
      {people.length === 0 && <p className="help">{t('v_nobody_at_limit')}</p>}
      <ul className="ranking" ref={list}>
        {people.slice(0, named).map((person) => {
          const { user, displaced, refused, would_limit: would, places, addresses } = person
          const said = [
            displaced > 0 && t('v_displaced_short', { count: displaced }),
            refused > 0 && t('v_refused_count', { count: refused }),
            would > 0 && t('v_would_short', { count: would }),
          ]
          return (
            <li key={JSON.stringify(user.id)}>
              <span className="one-line">
                <PlaceLink tab="activity" query={linkOf({ ...view, user: user.login ?? String(user.id) })}>
                  <bdi>{nameOf(user)}</bdi>
                </PlaceLink>{' '}
                <bdi>{user.login}</bdi>
              </span>
              <span>
                <svg className="share" viewBox={`0 0 ${highest} 1`} preserveAspectRatio="none" aria-hidden="true">
                  <rect className="refused" width={refused + would} height="1" />
                  <rect className="in" x={refused + would} width={displaced} height="1" />
                </svg>
                {said.filter(Boolean).join(', ')}
              </span>
              <span
                {...(places > FEW_PLACES && { className: 'warn', title: t('v_many_places', { count: FEW_PLACES }) })}
              >
                {places < addresses && `${t(countKey('count_places', places), { count: places })}, `}
                {t(countKey('count_addresses', addresses), { count: addresses })}
              </span>
            </li>
          )
        })}
      </ul>
      {people.length > named && (
        <button type="button" className="link" onClick={showMore}>
          {t('show_more', { count: NAMED.more })}
        </button>
      )}
    </details>
  )
}

/** Renders the button that asks for the times of a period. It shows those that the view has. */
export function Dates({ view, linkOf }: SummaryProps) {
  const t = useTexts()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [from, to] = timesOf(view)
  const isChosen = view.period === '' && (from !== undefined || to !== undefined)
  const fields = [
    ['from', 'v_dates_from', from],
    ['to', 'v_dates_to', to],
  ] as const

  function show(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const [from, to] = ['from', 'to'].map((name) => new Date(String(given.get(name))).getTime() || '')
    setOpen(false)
    place.setQuery(linkOf({ ...view, period: '', from: String(from), to: String(to) }))
  }

  /** Completes a period with an hour, and refuses one that ends before it starts. */
  function check({ currentTarget, target }: FormEvent<HTMLFormElement>): void {
    const [start, end] = currentTarget.querySelectorAll('input')
    if (!start || !end) return
    const [first, last] = [start, end].map(({ value }) => new Date(value).getTime())
    if (target === start && first && !last) end.value = localTime(first + HOUR_MS)
    end.setCustomValidity(first && last && last <= first ? t('v_dates_order') : '')
  }

  return (
    <>
      <button type="button" className="chip" aria-pressed={isChosen} onClick={() => setOpen(true)}>
        {isChosen ? periodInWords(from, to) : t('v_dates')}
      </button>
      {isOpen && (
        <Dialog
          title={t('v_period')}
          onClose={() => setOpen(false)}
          actions={
            <>
              <Button onClick={() => setOpen(false)}>{t('cancel')}</Button>
              <Button tone="primary" type="submit" form={id}>
                {t('v_dates_show')}
              </Button>
            </>
          }
        >
          <form id={id} className="dates" onSubmit={show} onInput={check}>
            {fields.map(([name, text, ms]) => (
              <label key={name}>
                {t(text)}
                <input type="datetime-local" name={name} defaultValue={localTime(ms)} />
              </label>
            ))}
          </form>
        </Dialog>
      )}
    </>
  )
}

/** Returns a time as the value of a field. */
function localTime(ms: number | undefined): string {
  if (ms === undefined) return ''
  return new Date(ms - new Date(ms).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}
