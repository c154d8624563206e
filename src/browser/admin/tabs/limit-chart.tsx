import { useOptions } from '../options/use-options.ts'
import { hasDirectory, place } from '../screen.ts'
import { type PeopleSummary, usePeopleSummary } from '../sessions/people/use-people.ts'
import { locale } from '../texts/locale.ts'
import { countKey, useTexts } from '../texts/use-texts.ts'

/** How many columns there are before the one for more sessions. */
const COLUMNS = { least: 5, most: 12 }

/** Renders whom the limit concerns: how many sessions people have, and what a lower limit would change. */
export function LimitEffect({ maximum }: { maximum: unknown }) {
  const { data } = usePeopleSummary()
  const { data: options } = useOptions()
  const { maximum: from } = (options?.sessmgr_settings ?? {}) as { maximum?: unknown }
  const limit = typeof maximum === 'number' ? maximum : Number(from)
  return (
    <div className="limit-effect">
      {hasDirectory && (data ? <LimitChart summary={data} maximum={limit} /> : <div className="limit-chart" />)}
      {typeof from === 'number' && limit < from && <Affected summary={data} maximum={limit} />}
    </div>
  )
}

/** Renders how many people have how many sessions, with the limit as a line. */
function LimitChart({ summary, maximum }: { summary: PeopleSummary; maximum: number }) {
  const t = useTexts()
  const last = Math.max(COLUMNS.least, Math.min(maximum + 1, COLUMNS.most))
  const columns = [...Array.from({ length: last }, (_, index) => index + 1), Number.POSITIVE_INFINITY]
  const counts = columns.map((sessions) => peopleWith(summary, sessions, sessions > last ? last + 1 : sessions))
  const highest = Math.max(1, ...counts)
  const number = new Intl.NumberFormat(locale)
  return (
    <figure className="limit-chart">
      <figcaption className="help">{t('chart')}</figcaption>
      <ol>
        {columns.map((sessions, index) => {
          const count = counts[index] ?? 0
          return (
            <li key={sessions} className={sessions > maximum ? 'over' : undefined}>
              {sessions === maximum && <span className="limit-line">{t('chart_limit')}</span>}
              <span className="limit-column">
                {number.format(count)}
                <span className="limit-bar" style={{ blockSize: `${(4 * count) / highest}rem` }} />
              </span>
              <span>{sessions > last ? t('chart_more') : number.format(sessions)}</span>
            </li>
          )
        })}
      </ol>
    </figure>
  )
}

/** Says how many people have more sessions than a lower limit allows, and links to them, if the server knows them. */
function Affected({ summary, maximum }: { summary: PeopleSummary | undefined; maximum: number }) {
  const t = useTexts()
  const people = summary ? peopleWith(summary, Number.POSITIVE_INFINITY, maximum + 1) : 0
  const count = new Intl.NumberFormat(locale).format(people)
  if (people === 0) return <p role="status">{t(summary?.exact ? 'maximum_over_none' : 'maximum_lower')}</p>
  return (
    <p role="status">
      {t(countKey(summary?.exact ? 'maximum_over' : 'maximum_over_about', people), { count })}{' '}
      <button
        type="button"
        className="link"
        onClick={() => place.go('sessions', { show: 'over_limit', sort: 'most', than: String(maximum) }, true)}
      >
        {t('show_them')}
      </button>
    </p>
  )
}

/** Counts the people who have at least and at most these numbers of sessions. */
function peopleWith({ by_sessions }: PeopleSummary, most: number, least: number): number {
  const found = by_sessions.filter(({ sessions }) => sessions >= least && sessions <= most)
  return found.reduce((sum, { people }) => sum + people, 0)
}
