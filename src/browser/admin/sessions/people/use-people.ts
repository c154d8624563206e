import { peoplePath, SUMMARY_PATH } from '../../../../features/admin/screen-tabs.ts'
import type { Query } from '../../rest/queries.ts'
import { useQuery, useRefreshMs } from '../../rest/use-rest.ts'
import { hasDirectory } from '../../screen.ts'
import { type Device, type Person, SESSIONS } from '../use-sessions.ts'
import type { PeopleView } from './people-views.ts'

let last: Readonly<Record<string, string>> = {}

/** Remembers the query of the list of people, for the link back to it. */
export function rememberView(query: URLSearchParams): void {
  last = Object.fromEntries(query)
}

/** Returns the query of the list of people as it was last shown. */
export function lastView(): Readonly<Record<string, string>> {
  return last
}

/** A person who is signed in, as the server returns it. Times are in Unix seconds. */
export interface SignedInPerson {
  readonly user: Person
  /** How many sessions are live. */
  readonly live: number
  /** How many sessions the person may have. Null if there is no limit, undefined if it is unknown. */
  readonly maximum?: number | null
  /** Only if the limit is not enforced: how many sessions it would allow. */
  readonly maximum_if_enforced?: number | null
  /** Number of sessions on each kind of device. */
  readonly devices: Readonly<Partial<Record<`${Exclude<Device['kind'], 'unknown'>}s` | 'unknown', number>>>
  readonly last_seen: number
  readonly signed_in: number
  readonly ip: string | null
  readonly place?: string | null
  /** Number of different places of the sessions. */
  readonly places: number
}

interface PeoplePage {
  readonly people: readonly SignedInPerson[]
  /** Start of the next page; undefined on the last page. */
  readonly next?: string
  /** Whether the list is complete. */
  readonly exact: boolean
}

/** Totals of all signed-in people. */
export interface PeopleSummary {
  readonly people: number
  readonly sessions: number
  /** How many people have each number of sessions, in ascending order. */
  readonly by_sessions: readonly { readonly sessions: number; readonly people: number }[]
  /** People who have used a session in the last 15 minutes. */
  readonly used_15m: number
  readonly over_limit: number
  readonly enforced: boolean
  /** Logins refused in the last 24 hours. Null if unknown. */
  readonly refused_24h: number | null
  readonly exact: boolean
  /** Whether `over_limit` is exact. */
  readonly limits_exact: boolean
  readonly used_exact: boolean
}

/** Counts the people who have at least and at most these numbers of sessions. */
export function peopleWith({ by_sessions }: PeopleSummary, least: number, most = Number.POSITIVE_INFINITY): number {
  const found = by_sessions.filter(({ sessions }) => sessions >= least && sessions <= most)
  return found.reduce((sum, { people }) => sum + people, 0)
}

/** Returns the options of the query that reads signed-in people page by page. */
export function peopleQuery(view: PeopleView): Query<PeoplePage> {
  return { key: [SESSIONS, 'people', view], path: (cursor) => peoplePath(view, cursor), next: ({ next }) => next }
}

/** The query that reads the totals. */
export const SUMMARY_QUERY: Query<PeopleSummary> = { key: [SESSIONS, 'summary'], path: () => SUMMARY_PATH }

/** Reads the totals, and refreshes them at intervals while the screen is visible. */
export function usePeopleSummary() {
  const refreshMs = useRefreshMs()
  return useQuery(SUMMARY_QUERY, { everyMs: () => refreshMs, isNeeded: hasDirectory })
}
