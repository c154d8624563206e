import { Suspense, useSyncExternalStore } from 'react'
import { LATE_PARTS } from '../loading/late-parts.ts'
import { useFramed } from '../loading/use-framed.ts'
import { place } from '../screen.ts'
import { TableSkeleton } from './table/table-skeleton.tsx'

/** Renders everybody who is signed in, or the sessions of the user that the URL names. */
export function SessionsTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const user = query.get('user') ?? ''
  const outline = <TableSkeleton isPerson={user !== ''} />
  if (!useFramed()) return outline
  return (
    <Suspense fallback={outline}>
      {user === '' ? <LATE_PARTS.people query={query} /> : <LATE_PARTS.person key={user} user={user} />}
    </Suspense>
  )
}
