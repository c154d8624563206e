import { lazy, Suspense, useSyncExternalStore } from 'react'
import { place } from '../screen.ts'
import { TableSkeleton } from './table/table-skeleton.tsx'

// The other tabs need neither.
const PersonPage = lazy(() => import('./person/person-page.tsx'))
const PeoplePage = lazy(() => import('./people/people-page.tsx'))

/** Renders everybody who is signed in, or the sessions of the user that the URL names. */
export function SessionsTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const user = query.get('user') ?? ''
  return (
    <Suspense fallback={<TableSkeleton isPerson={user !== ''} />}>
      {user === '' ? <PeoplePage query={query} /> : <PersonPage key={user} user={user} />}
    </Suspense>
  )
}
