import { locale } from '../../texts/locale.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { PlaceLink } from '../place-link.tsx'
import { type PeopleView, usePeopleSummary } from './use-people.ts'

/** Renders the totals. Each is a link that filters the list below. */
export function Figures({ view: { show, sort } }: { view: PeopleView }) {
  const t = useTexts()
  const { data } = usePeopleSummary()
  const number = new Intl.NumberFormat(locale)
  const say = (value: number) =>
    data?.exact === false && value > 0 ? t('about', { count: number.format(value) }) : number.format(value)
  const isAll = show === 'all'
  return (
    <ul className="figures">
      <Figure
        query={{ show: 'all', sort: 'recent' }}
        label={t('figure_people')}
        value={data && say(data.people)}
        isCurrent={isAll && sort === 'recent'}
      />
      <Figure
        query={{ show: 'all', sort: 'most' }}
        label={t('figure_sessions')}
        value={data && say(data.sessions)}
        isCurrent={isAll && sort === 'most'}
      />
      <Figure
        query={{ show: 'at_limit', sort }}
        label={t('figure_at_limit')}
        value={data && say(data.at_limit)}
        isCurrent={show === 'at_limit'}
      />
      {data?.refused_24h !== null && (
        <li>
          <PlaceLink tab="activity" query={{ type: 'login.refused' }}>
            <span>{t('figure_refused')}</span>
            <strong>{data ? number.format(data.refused_24h) : ' '}</strong>
          </PlaceLink>
        </li>
      )}
    </ul>
  )
}

function Figure({
  query,
  label,
  value,
  isCurrent,
}: {
  query: Readonly<Record<string, string>>
  label: string
  value: string | undefined
  isCurrent: boolean
}) {
  return (
    <li>
      <PlaceLink query={query} aria-current={isCurrent ? 'true' : undefined}>
        <span>{label}</span>
        <strong>{value ?? ' '}</strong>
      </PlaceLink>
    </li>
  )
}
