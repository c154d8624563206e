import { useEffect } from 'react'
import { ListHead } from '../../parts/list-head.tsx'
import { useSignedIn } from '../../rest/use-signed-in.ts'
import { hasDirectory } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { KeysHelp } from '../keys-help.tsx'
import { rememberFocus, returnFocus } from '../return-focus.ts'
import { SearchBox } from '../search/search-box.tsx'
import { SessionsExport } from '../sessions-export.tsx'
import { SignOutEverybody } from '../sign-out-everybody.tsx'
import { Figures } from './figures.tsx'
import { NoDirectory } from './no-directory.tsx'
import { PeopleFilters, viewIn } from './people-filters.tsx'
import { PeopleList } from './people-list.tsx'

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
