import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { RestFailure } from '../rest/rest-client.ts'
import { rereading, useRefreshMs } from '../rest/use-rest.ts'
import { rest } from '../screen.ts'

/** How many events a page has. */
export const PAGE_SIZE = 50

/** A user in an event. A deleted user has only the id. */
export interface EventUser {
  readonly id: string | number
  readonly login?: string
  readonly display_name?: string
}

/** Something that happened. `at` is in milliseconds. */
export interface ActivityEvent {
  readonly id: string
  readonly at: number
  readonly type: string
  readonly user?: EventUser
  readonly initiator: 'user' | 'admin' | 'policy' | 'system'
  readonly actor?: EventUser
  readonly kind?: string
  readonly device?: string
  readonly ip?: string
  readonly details?: Readonly<Record<string, unknown>>
}

interface ActivityPage {
  readonly events: readonly ActivityEvent[]
  readonly next?: string
  /** Time of the earliest event that could be known, in milliseconds. */
  readonly since: number
  /** `process` if only the last events of one process are kept. */
  readonly kept: 'process' | 'sink'
}

/** Which events to show. Empty strings select all. */
export interface ActivityView {
  readonly type: string
  readonly user: string
}

/** The shown events, and where the next page begins. */
type Shown = Pick<ActivityPage, 'events' | 'next'>

/** Returns the query of a route for a view. */
export function queryOf({ type, user }: ActivityView, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({ ...(type && { type }), ...(user && { user }), ...more }).toString()
}

/** Reads events, and new ones at intervals while the screen is visible. New ones wait until `show` is called. */
export function useActivity(view: ActivityView) {
  const path = `sessmgr/v1/audit?${queryOf(view, { limit: String(PAGE_SIZE) })}`
  const first = useQuery({
    ...rereading<ActivityPage>(['activity', view.type, view.user], path),
    // A user who comes back to the tab looks for new events.
    gcTime: 0,
    refetchInterval: useRefreshMs(),
  })
  const [shown, setShown] = useState<Shown>()
  const more = useMutation({
    mutationFn: (cursor: string) =>
      rest.request<ActivityPage>('GET', `sessmgr/v1/audit?${queryOf(view, { limit: String(PAGE_SIZE), cursor })}`),
    onSuccess: ({ events, next }) =>
      setShown((before) => ({ events: [...(before?.events ?? []), ...events], ...(next !== undefined && { next }) })),
  })
  const current = shown ?? first.data
  if (!shown && first.data) setShown(first.data)
  const news = newEvents(current, first.data)
  return {
    first,
    more,
    events: current?.events,
    next: current?.next,
    /** New events that are not shown yet. */
    news,
    /** Whether there may be more new events than were read. */
    isGap: news.length > 0 && news.length === first.data?.events.length && current?.events.length !== 0,
    show: () => setShown(withNews(current, first.data)),
    /** Shows only the newest page. */
    restart: (page: ActivityPage) => setShown(page),
  }
}

/** Checks whether nobody has the name. */
export function useIsNobody(name: string): boolean {
  const { error } = useQuery({
    queryKey: ['activity-user', name],
    queryFn: () => rest.request('GET', `sessmgr/v1/sessions?${new URLSearchParams({ user: name, limit: '1' })}`),
    enabled: name !== '',
    retry: false,
  })
  return error instanceof RestFailure && error.code === 'user_not_found'
}

/** Returns the events that are newer than the shown ones. */
function newEvents(shown: Shown | undefined, newest: ActivityPage | undefined): readonly ActivityEvent[] {
  const known = new Set(shown?.events.map(({ id }) => id))
  return newest?.events.filter(({ id }) => !known.has(id)) ?? []
}

/** Adds new events on top. If some in between were not read, starts again with the newest page. */
function withNews(shown: Shown | undefined, newest: ActivityPage | undefined): Shown | undefined {
  if (!shown || !newest) return newest
  const news = newEvents(shown, newest)
  return news.length === newest.events.length ? newest : { ...shown, events: [...news, ...shown.events] }
}
