import { Suspense, useSyncExternalStore } from 'react'
import { LATE_PARTS } from '../loading/late-parts.ts'
import { Skeleton } from '../parts/feedback/skeleton.tsx'
import { place } from '../screen.ts'
import type { ActivityView } from './use-activity.ts'

/** Renders the tab that shows what happened. The URL contains the filter, so that it can be shared and reloaded. */
export function ActivityTab() {
  const query = new URLSearchParams(useSyncExternalStore(place.subscribe, place.query))
  const view: ActivityView = { type: query.get('type') ?? '', user: query.get('user') ?? '' }
  return (
    <Suspense fallback={<Skeleton panels={1} />}>
      <LATE_PARTS.activity view={view} />
    </Suspense>
  )
}
