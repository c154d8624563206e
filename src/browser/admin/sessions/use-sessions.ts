import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useSignedIn } from '../rest/use-signed-in.ts'
import { rest } from '../screen.ts'

/** First part of the query key of all session lists. */
export const SESSIONS_KEY = ['sessions']

const REFRESH_MS = 10_000

/** A session as the server returns it. Times are in Unix seconds. */
export interface Session {
  readonly token: string
  readonly created: number
  readonly last_seen: number
  readonly expires: number
  readonly ip: string | null
  readonly user_agent: string | null
  /** Whether this is the session of the current user. */
  readonly current: boolean
}

/** A user's sessions. */
export interface UserSessions {
  readonly user: { readonly id: string | number; readonly login: string; readonly display_name: string }
  readonly sessions: readonly Session[]
}

interface SessionsPage extends UserSessions {
  /** Start of the next page; undefined on the last page. */
  readonly next_after?: number
}

/** Reads all of a user's sessions, page by page, because the confirmation shows their number. */
export async function readSessions(user: string, after?: number): Promise<UserSessions> {
  const query = new URLSearchParams({ user, ...(after !== undefined && { after: String(after) }) })
  const path = `sessmgr/v1/sessions?${query.toString()}`
  const { next_after, ...page } = (await rest.requestObject<SessionsPage>('GET', path)).body
  if (next_after === undefined) return page
  const others = await readSessions(user, next_after)
  return { ...page, sessions: [...page.sessions, ...others.sessions] }
}

/** Reads a user's sessions, and again at intervals while the screen is visible. */
export function useSessions(user: string): UseQueryResult<UserSessions> {
  const isSignedIn = useSignedIn() === 'yes'
  return useQuery({
    queryKey: [...SESSIONS_KEY, user],
    queryFn: () => readSessions(user),
    enabled: user !== '',
    refetchInterval: isSignedIn ? REFRESH_MS : false,
  })
}
