import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { Tagged } from '../rest/rest-client.ts'
import { useSignedIn } from '../rest/use-signed-in.ts'
import { queries, rest } from '../screen.ts'

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

type Pages = readonly Tagged<SessionsPage>[]

/** Reads all of a user's sessions, because the confirmation shows their number. */
export async function readSessions(user: string): Promise<UserSessions> {
  return joined(await readPages(user, []))
}

/** Reads a user's sessions, and again at intervals while the screen is visible. */
export function useSessions(user: string): UseQueryResult<UserSessions> {
  const isSignedIn = useSignedIn() === 'yes'
  const queryKey = [...SESSIONS_KEY, user]
  return useQuery({
    queryKey,
    queryFn: () => readPages(user, queries.getQueryData<Pages>(queryKey) ?? []),
    select: joined,
    enabled: user !== '',
    refetchInterval: isSignedIn ? REFRESH_MS : false,
  })
}

/** Reads the pages of a list. Pages that are the same as in `last` are not sent again. */
async function readPages(user: string, [last, ...lastOthers]: Pages, after?: number): Promise<Pages> {
  const query = new URLSearchParams({ user, ...(after !== undefined && { after: String(after) }) })
  const page = await rest.reread(`sessmgr/v1/sessions?${query.toString()}`, last)
  const { next_after: next } = page.body
  return next === undefined ? [page] : [page, ...(await readPages(user, lastOthers, next))]
}

function joined(pages: Pages): UserSessions {
  const [first] = pages as readonly [Tagged<SessionsPage>]
  return { user: first.body.user, sessions: pages.flatMap(({ body }) => body.sessions) }
}
