import { useEffect, useRef } from 'react'
import { ExportMenu } from '../../parts/export-menu.tsx'
import { useSignedIn } from '../../rest/use-signed-in.ts'
import { hasDirectory } from '../../screen.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { SearchBox } from '../search/search-box.tsx'
import { SignOutEverybody } from '../sign-out-everybody.tsx'
import { Figures } from './figures.tsx'
import { KeysHelp } from './keys-help.tsx'
import { NoDirectory } from './no-directory.tsx'
import { PeopleFilters, viewIn } from './people-filters.tsx'
import { PeopleList } from './people-list.tsx'

/** Renders everybody who is signed in. `query` is the URL's. */
export default function PeoplePage({ query }: { query: URLSearchParams }) {
  const t = useTexts()
  const isSignedIn = useSignedIn() === 'yes'
  const view = viewIn(query)
  const search = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focusSearch = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event)) return
      event.preventDefault()
      search.current?.focus()
    }
    document.addEventListener('keydown', focusSearch)
    return () => document.removeEventListener('keydown', focusSearch)
  }, [])
  const exported = (format: string) => `sessmgr/v1/people/export?${new URLSearchParams({ format, ...view })}`

  return (
    <section className="stack people" aria-label={t('tab_sessions')} inert={!isSignedIn}>
      <div className="list-head">
        <div>
          <h2>{t('tab_sessions')}</h2>
          <p className="help">{t('people_help')}</p>
        </div>
        <div className="actions">
          <KeysHelp />
          {hasDirectory && (
            <ExportMenu
              formats={[
                { label: 'CSV', path: exported('csv'), file: 'sessions.csv' },
                { label: 'JSON', path: exported('json'), file: 'sessions.json' },
              ]}
            />
          )}
          <SignOutEverybody />
        </div>
      </div>
      {hasDirectory && <Figures view={view} />}
      <div className={hasDirectory ? 'search-line' : 'search-line alone'}>
        <SearchBox field={search} />
        {hasDirectory && <PeopleFilters view={view} />}
      </div>
      {hasDirectory ? <PeopleList key={`${view.show} ${view.sort}`} view={view} /> : <NoDirectory />}
    </section>
  )
}

function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isField = target instanceof Element && target.closest('input:not([type=checkbox]), select, textarea, dialog')
  return Boolean(isField) || ctrlKey || metaKey || altKey
}
