import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { draft, rest } from '../screen.ts'
import type { ReadOptions, SiteOptions } from './option-changes.ts'

/** Path of the route that reads and writes all options. */
export const OPTIONS_PATH = 'wp/v2/settings'
export const OPTIONS_KEY = ['options']

/** Reads all of the site's options. */
export function readOptions(): Promise<ReadOptions> {
  return rest.requestObject<SiteOptions>('GET', OPTIONS_PATH)
}

/** The query that reads all of the site's options. */
export const OPTIONS_QUERY = { queryKey: OPTIONS_KEY, queryFn: readOptions }

/** Reads all of the site's options, once for all components. Unless `isNeeded`, only returns what has been read. */
export function useOptions(isNeeded = true): UseQueryResult<SiteOptions> {
  return useQuery({
    ...OPTIONS_QUERY,
    select: ({ body }) => body,
    // Keep the values that the user saw before editing, because saving compares with them.
    enabled: ({ state }) => isNeeded && (state.data === undefined || !draft.isDirty()),
  })
}
