import { useOptions } from '../options/use-options.ts'
import { useFailureText } from '../rest/use-rest.ts'
import { hasDirectory } from '../screen.ts'
import { type PeopleSummary, peopleWith, usePeopleSummary } from '../sessions/people/use-people.ts'
import { locale } from '../texts/locale.ts'
import { useTexts } from '../texts/use-texts.ts'

/** How many columns there are before the one for more sessions. */
const COLUMNS = { least: 5, most: 12 }

/** Renders how many sessions people have, with the limit, if the server knows them. */
export function LimitEffect({ maximum }: { maximum: unknown }) {
  const { data, error } = usePeopleSummary()
  const textOf = useFailureText()
  const { data: options } = useOptions()
  const { maximum: from } = (options?.sessmgr_settings ?? {}) as { maximum?: unknown }
  const limit = typeof maximum === 'number' ? maximum : Number(from)
  return (
    <>
      {hasDirectory && (data ? <LimitChart summary={data} maximum={limit} /> : <div className="limit-chart" />)}
      {error && (
        <p className="problem" role="alert">
          {textOf(error, 'load_failed')}
        </p>
      )}
    </>
  )
}

/** Renders how many people have how many sessions, with the limit as a line. */
function LimitChart({ summary, maximum }: { summary: PeopleSummary; maximum: number }) {
  const t = useTexts()
  const last = Math.max(COLUMNS.least, Math.min(maximum + 1, COLUMNS.most))
  const columns = [...Array.from({ length: last }, (_, index) => index + 1), Number.POSITIVE_INFINITY]
  const counts = columns.map((sessions) => peopleWith(summary, Math.min(sessions, last + 1), sessions))
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
