import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { rest } from '../../screen.ts'
import { type Person, SESSIONS_KEY } from '../use-sessions.ts'

/** How many characters a search needs. */
const SHORTEST = 2

/** A user who was found, and how many sessions they have. */
export interface FoundPerson {
  readonly user: Person
  readonly live: number
}

/** What a search has found. */
export interface SearchResult {
  readonly people: readonly FoundPerson[]
  /** The people who are signed in from the IP address that was searched for. */
  readonly address?: {
    readonly ip: string
    readonly place: string | null
    readonly people: readonly FoundPerson[]
    /** Whether nobody is missing. */
    readonly exact: boolean
  }
}

/** Searches for users by a part of their name. */
export function usePeopleSearch(text: string): UseQueryResult<SearchResult> {
  const q = text.trim()
  return useQuery({
    queryKey: [...SESSIONS_KEY, 'search', q],
    queryFn: () => rest.request<SearchResult>('GET', `sessmgr/v1/people/search?${new URLSearchParams({ q })}`),
    enabled: q.length >= SHORTEST,
    staleTime: 30_000,
  })
}
