import { lazy, Suspense, type SyntheticEvent, useState, useSyncExternalStore } from 'react'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/feedback/empty.tsx'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { TextField } from '../parts/forms/fields.tsx'
import { Panel } from '../parts/panel.tsx'
import { place } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'

// The code that parses user agents is not needed until someone searches.
const SessionList = lazy(() => import('./session-list.tsx'))

/** Renders the tab that finds a user and shows their sessions. */
export function SessionsTab() {
  const t = useTexts()
  const user = useQueryValue('user')
  const [lookUps, setLookUps] = useState(0)
  return (
    <div className="stack">
      <Panel title={t('find_title')} help={t('find_help')}>
        <FindUser user={user} onFind={() => setLookUps((count) => count + 1)} />
      </Panel>
      {user === '' ? (
        <Empty icon="search" title={t('sessions_none_yet')}>
          {t('sessions_none_yet_help')}
        </Empty>
      ) : (
        <Suspense fallback={<Skeleton panels={1} />}>
          <SessionList key={`${lookUps} ${user}`} user={user} />
        </Suspense>
      )}
    </div>
  )
}

/** Renders the search. The URL contains what was searched for, so that it can be shared and reloaded. */
function FindUser({ user, onFind }: { user: string; onFind: () => void }) {
  const t = useTexts()
  const [name, setName] = useState(user)
  const [shown, setShown] = useState(user)
  if (shown !== user) {
    // The back button changes only the URL.
    setShown(user)
    setName(user)
  }

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    if (name.trim() === '') return
    onFind()
    place.setQuery({ user: name.trim() })
  }

  return (
    <form className="line" onSubmit={submit}>
      <TextField
        label={t('user')}
        help={t('user_help')}
        value={name}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={setName}
      />
      <Button type="submit" tone="primary" icon="search" disabled={name.trim() === ''}>
        {t('find')}
      </Button>
    </form>
  )
}

/** Reads one parameter of the URL's query. */
function useQueryValue(name: string): string {
  const current = useSyncExternalStore(place.subscribe, place.current)
  return new URLSearchParams(current.split('?')[1]).get(name) ?? ''
}
