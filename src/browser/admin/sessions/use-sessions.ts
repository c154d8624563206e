import { useMemo } from 'react'
import { sessionsPath } from '../../../features/admin/screen-tabs.ts'
import type { Query } from '../rest/queries.ts'
import { type Read, useQuery, useRefreshMs } from '../rest/use-rest.ts'
import { queries } from '../screen.ts'

/** Subject of all queries that read sessions and people. */
export const SESSIONS = 'sessions'

/** The refresh interval of a list that is too long for the usual one. */
const REFRESH_LONG_MS = 60_000
const LONG = 200

/** A device as the server returns it. The name is null if unknown. */
export interface Device {
  readonly name: string | null
  readonly kind: 'computer' | 'phone' | 'tablet' | 'tv' | 'program' | 'unknown'
}

/** A session as the server returns it. Times are in Unix seconds. */
export interface Session {
  readonly token: string
  readonly created: number
  readonly last_seen: number
  readonly expires: number
  readonly ip: string | null
  readonly user_agent: string | null
  readonly device: Device
  /** Where the IP address is located, if the application knows. */
  readonly place: string | null
  /** Token of an older session in the same browser. */
  readonly same_browser: string | null
  /** The label that the application has given it. */
  readonly label: string | null
  /** Whether it counts toward the limit. */
  readonly counts: boolean
  /** The user who acts as this one. */
  readonly actor: string | number | null
  /** Whether it is bound to its device. */
  readonly bound: boolean
  /** Whether this is the session of the current user. */
  readonly current: boolean
}

/** A user as the server returns it. */
export interface Person {
  readonly id: string | number
  readonly login: string
  readonly display_name: string
  readonly email?: string
  /** URL of the user's page in the application. */
  readonly url?: string
}

/** A user's sessions. */
export interface UserSessions {
  readonly user: Person
  readonly limit: {
    /** How many sessions the user may have. Null if there is no limit. */
    readonly maximum: number | null
    /** Only if the limit is not enforced: how many sessions it would allow. */
    readonly maximum_if_enforced?: number | null
    readonly logic: string
    readonly over: boolean
  } | null
  readonly sessions: readonly Session[]
}

interface SessionsPage extends UserSessions {
  /** Start of the next page; undefined on the last page. */
  readonly next_after?: number
}

/** Control characters, and characters that change the text direction, which could make a name look like another. */
const TURNING = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu
const VISIBLE = /[^\p{Z}\p{C}]/u

/** Returns a user's display name, or else the login name or the id. Skips names without visible characters. */
export function nameOf({ id, display_name = '', login = '' }: Pick<Person, 'id'> & Partial<Person>): string {
  const names = [display_name, login].map((name) => name.replaceAll(/\s+/g, ' ').replaceAll(TURNING, '').trim())
  return names.find((name) => VISIBLE.test(name)) ?? String(id)
}

/** Returns the query that reads all of a user's sessions, because the confirmations show their number. */
export function sessionsQuery(user: string): Query<SessionsPage> {
  return {
    key: [SESSIONS, user],
    path: (after) => sessionsPath(user, after),
    next: ({ next_after }) => next_after?.toString(),
    isWhole: true,
  }
}

/** Reads a user's sessions once. */
export async function readSessions(user: string): Promise<UserSessions> {
  return joined(await queries.read(sessionsQuery(user)))
}

/** Reads a user's sessions, and refreshes them at intervals while the screen is visible. */
export function useSessions(user: string): Read<UserSessions> {
  const refreshMs = useRefreshMs()
  const found = useQuery(sessionsQuery(user), {
    everyMs: (pages) => refreshMs && (joined(pages).sessions.length > LONG ? REFRESH_LONG_MS : refreshMs),
  })
  const { pages } = found
  return { ...found, data: useMemo(() => pages && joined(pages), [pages]) }
}

/** Joins the pages of a user's sessions. */
export function joined(pages: readonly UserSessions[]): UserSessions {
  return { ...(pages[0] as UserSessions), sessions: pages.flatMap(({ sessions }) => sessions) }
}
