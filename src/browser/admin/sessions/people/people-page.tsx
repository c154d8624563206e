import { useEffect } from 'react'
import { Select } from '../../parts/fields.tsx'
import { PlaceLink, SafeLink } from '../../parts/links.tsx'
import { SessionsExport } from '../../parts/menu.tsx'
import { ListHead } from '../../parts/panel.tsx'
import { serverNow } from '../../rest/server-clock.ts'
import { useSignedIn } from '../../rest/use-rest.ts'
import { hasDirectory, place, support } from '../../screen.ts'
import { locale } from '../../texts/locale.ts'
import { PEOPLE_TEXTS } from '../../texts/people-texts.ts'
import { addTexts, countKey, useTexts } from '../../texts/use-texts.ts'
import { KeysHelp } from '../keyboard.tsx'
import { lookUps, SearchBox } from '../search.tsx'
import { SignOutEverybody } from '../sign-out.tsx'
import { PeopleList } from './people-list.tsx'
import { type PeopleView, SHOWS, SORTS, viewIn } from './people-views.ts'
import { rememberView, usePeopleSummary } from './use-people.ts'

addTexts(PEOPLE_TEXTS)

const KEYS = [
  ['/', 'key_search'],
  ['↑ ↓', 'key_move'],
  ['Enter', 'key_open'],
  ['Delete', 'key_end'],
] as const

/** Renders the list of signed-in people. `query` comes from the URL. */
export function PeoplePage({ query }: { query: URLSearchParams }) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  const view = viewIn(query)
  useEffect(() => rememberView(query))

  return (
    <section className="stack people" aria-label={t('tab_sessions')} inert={!isSignedIn}>
      <ListHead title={t('tab_sessions')}>
        <KeysHelp keys={hasDirectory ? KEYS : KEYS.slice(0, 1)} />
        {hasDirectory && <SessionsExport words={['people']} route="people/export" query={{ ...view }} />}
        {/* On a narrow screen, it is only in the settings. */}
        <div className="wide-only">
          <SignOutEverybody />
        </div>
      </ListHead>
      {hasDirectory ? (
        <>
          <Figures view={view} />
          <PeopleList view={view}>
            <SearchBox />
            <PeopleFilters view={view} />
          </PeopleList>
        </>
      ) : (
        <>
          <div className="search-line">
            <SearchBox />
          </div>
          <NoDirectory />
        </>
      )}
    </section>
  )
}

/** Renders the totals. Each is a link that filters the list below. */
function Figures({ view: { show, sort } }: { view: PeopleView }) {
  const t = useTexts()
  const { data, error } = usePeopleSummary()
  const isMissing = data === undefined && error !== undefined
  const number = new Intl.NumberFormat(locale)
  const figures = [
    ['all', 'figure_people', data?.people, data?.exact, 'inexact'],
    ['used', 'figure_used', data?.used_15m, data?.used_exact, 'inexact_used'],
    [
      'over_limit',
      data?.enforced === false ? 'figure_would_be' : 'figure_over',
      data?.over_limit,
      data?.limits_exact,
      'inexact_limits',
    ],
  ] as const
  return (
    <ul className="figures">
      {figures.map(([shows, label, value, isExact, reason]) => (
        <li key={shows}>
          <PlaceLink query={{ show: shows, sort }} aria-current={show === shows ? 'true' : undefined}>
            <span>{t(label)}</span>
            {value === undefined || isExact || value === 0 ? (
              <Value text={value === undefined ? undefined : number.format(value)} isMissing={isMissing} />
            ) : (
              <strong title={t(reason)}>{t('about', { count: value })}</strong>
            )}
          </PlaceLink>
        </li>
      ))}
      {data?.refused_24h !== null && (
        <li>
          <PlaceLink tab="activity" query={{ type: 'login.refused', from: String(Math.trunc(serverNow()) - DAY_MS) }}>
            <span>{t('figure_refused')}</span>
            <Value text={data && number.format(data.refused_24h)} isMissing={isMissing} />
          </PlaceLink>
        </li>
      )}
    </ul>
  )
}

const DAY_MS = 86_400_000

/** Renders a total, or a dash if it could not be read. */
function Value({ text, isMissing }: { text: string | undefined; isMissing: boolean }) {
  const t = useTexts()
  return isMissing ? <strong title={t('load_failed')}>–</strong> : <strong>{text ?? ' '}</strong>
}

/** Renders the choices of a filter and an order, which are kept in the URL. */
function PeopleFilters({ view }: { view: PeopleView }) {
  const t = useTexts()
  const { than, ...others } = view
  const become = (change: Readonly<Record<string, string>>) => place.setQuery({ ...others, ...change })
  return (
    <>
      <Select label="filter" value={view.show} options={SHOWS} onChange={(show) => become({ show })} />
      {/* A narrow screen has no column headings to sort by. */}
      <div className="small-only">
        <Select
          label="sort"
          value={view.sort}
          options={SORTS}
          onChange={(sort) => become({ sort, ...(than && { than }) })}
        />
      </div>
      {than && (
        <PlaceLink className="chip" query={others} aria-current="true">
          {t(countKey('more_than', Number(than)), { count: than })} <span aria-hidden="true">✕</span>
        </PlaceLink>
      )}
    </>
  )
}

/** Renders the users who were looked up last, for a server that keeps no list of people. */
function NoDirectory() {
  const t = useTexts()
  const last = lookUps()
  return (
    <div className="empty">
      {last.length > 0 && (
        <>
          <p className="empty-title">{t('looked_up')}</p>
          <ul>
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
