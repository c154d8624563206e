import { type InfiniteData, infiniteQueryOptions, useQuery } from '@tanstack/react-query'
import { peoplePath, SUMMARY_PATH } from '../../../../features/admin/screen-tabs.ts'
import type { Tagged } from '../../rest/rest-client.ts'
import { rereading, useRefreshMs } from '../../rest/use-rest.ts'
import { queries, rest } from '../../screen.ts'
import { type Device, type Person, SESSIONS_KEY } from '../use-sessions.ts'

/** How people are filtered and sorted, as the server takes it. */
export interface PeopleView {
  readonly show: 'all' | 'at_limit' | 'over_limit' | 'idle' | 'programs'
  readonly sort: 'recent' | 'most'
}

/** A person who is signed in, as the server returns it. Times are in Unix seconds. */
export interface SignedInPerson {
  readonly user: Person
  /** How many sessions are live. */
  readonly live: number
  /** How many sessions the person may have. Null if there is no limit, undefined if it is unknown. */
  readonly maximum?: number | null
  readonly over: boolean
  /** How many of the sessions are on each kind of device. */
  readonly devices: Readonly<Partial<Record<`${Exclude<Device['kind'], 'unknown'>}s` | 'unknown', number>>>
  readonly last_seen: number
  readonly signed_in: number
  readonly ip: string | null
  readonly place?: string | null
}

interface PeoplePage {
  readonly people: readonly SignedInPerson[]
  /** Start of the next page; undefined on the last page. */
  readonly next?: string
  /** Whether nobody is missing. */
  readonly exact: boolean
}

/** Totals of everybody who is signed in. */
export interface PeopleSummary {
  readonly people: number
  readonly sessions: number
  readonly at_limit: number
  readonly over_limit: number
  /** Null if unknown. */
  readonly refused_24h: number | null
  readonly exact: boolean
  /** Whether `at_limit` and `over_limit` are exact. */
  readonly limits_exact: boolean
}

type Pages = InfiniteData<Tagged<PeoplePage>, string>

/** Returns the query that reads who is signed in, page by page. */
export function peopleQuery({ show, sort }: PeopleView) {
  const queryKey = [...SESSIONS_KEY, 'people', show, sort]
  return infiniteQueryOptions({
    queryKey,
    queryFn({ pageParam }) {
      const known = queries.getQueryData<Pages>(queryKey)
      const last = known?.pages[known.pageParams.indexOf(pageParam)]
      return rest.reread<PeoplePage>(peoplePath({ show, sort }, pageParam), last)
    },
    initialPageParam: '',
    getNextPageParam: ({ body }) => body.next,
  })
}

/** The query that reads the totals. */
export const SUMMARY_QUERY = rereading<PeopleSummary>([...SESSIONS_KEY, 'summary'], SUMMARY_PATH)

/** Reads the totals, and again at intervals while the screen is visible. */
export function usePeopleSummary() {
  return useQuery({ ...SUMMARY_QUERY, refetchInterval: useRefreshMs() })
}
