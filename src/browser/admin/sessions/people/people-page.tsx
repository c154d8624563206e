import { useEffect } from 'react'
import { FIRST_VIEW } from '../../../../features/admin/screen-tabs.ts'
import { Select } from '../../parts/fields.tsx'
import { PlaceLink, SafeLink } from '../../parts/links.tsx'
import { SessionsExport } from '../../parts/menu.tsx'
import { ListHead } from '../../parts/panel.tsx'
import { useSignedIn } from '../../rest/use-rest.ts'
import { hasDirectory, place, support } from '../../screen.ts'
import { locale } from '../../texts/locale.ts'
import { type TextKey, useTexts } from '../../texts/use-texts.ts'
import { KeysHelp, rememberFocus, returnFocus } from '../keyboard.tsx'
import { lookUps, SearchBox } from '../search.tsx'
import { SignOutEverybody } from '../sign-out.tsx'
import { PeopleList } from './people-list.tsx'
import { type PeopleView, usePeopleSummary } from './use-people.ts'

const KEYS = [
  ['/', 'key_search'],
  ['↑ ↓', 'key_move'],
  ['Enter', 'key_open'],
  ['Delete', 'key_end'],
] as const

/** Renders everybody who is signed in. `query` is the URL's. */
export function PeoplePage({ query }: { query: URLSearchParams }) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  const view = viewIn(query)
  useEffect(returnFocus, [])

  return (
    <section
      className="stack people"
      aria-label={t('tab_sessions')}
      inert={!isSignedIn}
      onFocus={({ target }) => rememberFocus(target)}
    >
      <ListHead title={t('tab_sessions')} help={t('people_help')} tabIndex={-1}>
        <KeysHelp keys={hasDirectory ? KEYS : KEYS.slice(0, 1)} />
        {hasDirectory && <SessionsExport route="people/export" query={{ ...view }} />}
        <SignOutEverybody />
      </ListHead>
      {hasDirectory && <Figures view={view} />}
      <div className="search-line">
        <SearchBox />
        {hasDirectory && <PeopleFilters view={view} />}
      </div>
      {hasDirectory ? <PeopleList key={`${view.show} ${view.sort}`} view={view} /> : <NoDirectory />}
    </section>
  )
}

/** Renders the totals. Each is a link that filters the list below. */
function Figures({ view: { show, sort } }: { view: PeopleView }) {
  const t = useTexts()
  const { data, isError } = usePeopleSummary()
  const isMissing = isError && !data
  const number = new Intl.NumberFormat(locale)
  const say = (value: number, isExact = data?.exact) =>
    isExact === false && value > 0 ? t('about', { count: number.format(value) }) : number.format(value)
  const isAll = show === 'all'
  return (
    <ul className="figures">
      <Figure
        query={FIRST_VIEW}
        label={t('figure_people')}
        value={data && say(data.people)}
        isMissing={isMissing}
        isCurrent={isAll && sort === 'recent'}
      />
      <Figure
        query={{ show: 'all', sort: 'most' }}
        label={t('figure_sessions')}
        value={data && say(data.sessions)}
        isMissing={isMissing}
        isCurrent={isAll && sort === 'most'}
      />
      <Figure
        query={{ show: 'at_limit', sort }}
        label={t('figure_at_limit')}
        value={data && say(data.at_limit, data.limits_exact)}
        isMissing={isMissing}
        isCurrent={show === 'at_limit'}
      />
      {data?.refused_24h !== null && (
        <li>
          <PlaceLink tab="activity" query={{ type: 'login.refused' }}>
            <span>{t('figure_refused')}</span>
            <Value text={data && number.format(data.refused_24h)} isMissing={isMissing} />
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
  isMissing,
  isCurrent,
}: {
  query: Readonly<Record<string, string>>
  label: string
  value: string | undefined
  isMissing: boolean
  isCurrent: boolean
}) {
  return (
    <li>
      <PlaceLink query={query} aria-current={isCurrent ? 'true' : undefined}>
        <span>{label}</span>
        <Value text={value} isMissing={isMissing} />
      </PlaceLink>
    </li>
  )
}

/** Renders a total, or a dash if it could not be read. */
function Value({ text, isMissing }: { text: string | undefined; isMissing: boolean }) {
  const t = useTexts()
  return isMissing ? <strong title={t('load_failed')}>–</strong> : <strong>{text ?? ' '}</strong>
}

const SHOWS = [
  ['all', 'show_all'],
  ['at_limit', 'show_at_limit'],
  ['over_limit', 'show_over_limit'],
  ['idle', 'show_idle'],
  ['programs', 'show_programs'],
] as const satisfies readonly (readonly [PeopleView['show'], TextKey])[]

const SORTS = [
  ['recent', 'sort_recent'],
  ['most', 'sort_most'],
] as const satisfies readonly (readonly [PeopleView['sort'], TextKey])[]

/** Reads how people are filtered and sorted from the URL's query. */
function viewIn(query: URLSearchParams): PeopleView {
  const [show, sort] = [query.get('show'), query.get('sort')]
  return {
    show: SHOWS.find(([value]) => value === show)?.[0] ?? FIRST_VIEW.show,
    sort: SORTS.find(([value]) => value === sort)?.[0] ?? FIRST_VIEW.sort,
  }
}

/** Renders the choice of a filter and of an order, which the URL contains. */
function PeopleFilters({ view }: { view: PeopleView }) {
  const become = (change: Readonly<Record<string, string>>) => place.setQuery({ ...view, ...change })
  return (
    <>
      <Select label="filter" value={view.show} options={SHOWS} onChange={(show) => become({ show })} />
      <Select label="sort" value={view.sort} options={SORTS} onChange={(sort) => become({ sort })} />
    </>
  )
}

/** Renders what there is to see if the server keeps no list of people: the users who were looked up last. */
function NoDirectory() {
  const t = useTexts()
  const last = lookUps()
  return (
    <div className="empty">
      {last.length > 0 && (
        <>
          <p className="empty-title">{t('looked_up')}</p>
          <ul className="looked-up">
            {last.map(({ login, name }) => (
              <li key={login}>
                <PlaceLink query={{ user: login }}>
                  <bdi>{name}</bdi>
                </PlaceLink>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>{t('no_directory')}</p>
      {support.docs ? (
        <SafeLink href={support.docs}>{t('s_docs')}</SafeLink>
      ) : (
        <PlaceLink tab="support" query={{}}>
          {t('s_docs')}
        </PlaceLink>
      )}
    </div>
  )
}
