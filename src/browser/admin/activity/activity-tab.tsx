import { lazy, Suspense, useSyncExternalStore } from 'react'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { place } from '../screen.ts'
import type { ActivityView } from './use-activity.ts'

const ActivityPage = lazy(() => import('./activity-page.tsx'))

/** Renders the tab that shows what happened. The URL contains the filter, so that it can be shared and reloaded. */
export function ActivityTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const view: ActivityView = { type: query.get('type') ?? '', user: query.get('user') ?? '' }
  return (
    <Suspense fallback={<Skeleton panels={1} />}>
      <ActivityPage view={view} />
    </Suspense>
  )
}
