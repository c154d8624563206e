import { useOptions } from '../options/use-options.ts'
import { useFailureText } from '../rest/use-rest.ts'
import { hasDirectory } from '../screen.ts'
import { type PeopleSummary, peopleWith, usePeopleSummary } from '../sessions/people/use-people.ts'
import { locale } from '../texts/locale.ts'
import { useTexts } from '../texts/use-texts.ts'

/** How many columns there are before the one for more sessions. A phone has room for the least. */
const COLUMNS = { least: 5, most: 9 }

/** Returns from how many to how many sessions each column counts. One ends with the limit, however high that is. */
function columnsFor(maximum: number): readonly (readonly [least: number, most: number])[] {
  const room = matchMedia('(max-width: 40rem)').matches ? COLUMNS.least : COLUMNS.most
  const isHigh = maximum >= room
  const single = isHigh ? room - 1 : Math.max(COLUMNS.least, maximum + 1)
  const last = isHigh ? maximum : single
  const columns = Array.from({ length: single }, (_, index) => [index + 1, index + 1] as const)
  return [...columns, ...(isHigh ? [[room, maximum] as const] : []), [last + 1, Number.POSITIVE_INFINITY]]
}

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
  const columns = columnsFor(maximum)
  const counts = columns.map(([least, most]) => peopleWith(summary, least, most))
  const highest = Math.max(1, ...counts)
  const number = new Intl.NumberFormat(locale)
  return (
    <figure className="limit-chart">
      <figcaption className="help">{t('chart')}</figcaption>
      <ol>
        {columns.map(([least, most], index) => {
          const count = counts[index] ?? 0
          return (
            <li key={least} className={least > maximum ? 'over' : undefined}>
              {most === maximum && <span className="limit-line">{t('chart_limit')}</span>}
              <span className="limit-column">
                {number.format(count)}
                <span className="limit-bar" style={{ blockSize: `${(4 * count) / highest}rem` }} />
              </span>
              <span>
                {most === Number.POSITIVE_INFINITY
                  ? t('chart_more')
                  : least === most
                    ? number.format(most)
                    : number.formatRange(least, most)}
              </span>
            </li>
          )
        })}
      </ol>
    </figure>
  )
}
