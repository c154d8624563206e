import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { draft, rest } from '../screen.ts'
import type { ReadOptions, SiteOptions } from './option-changes.ts'

/** Path of the route that reads and writes every option. */
export const OPTIONS_PATH = 'wp/v2/settings'
export const OPTIONS_KEY = ['options']

/** Reads every option of the site. */
export function readOptions(): Promise<ReadOptions> {
  return rest.requestObject<SiteOptions>('GET', OPTIONS_PATH)
}

/** Reads every option of the site, once for all who ask. */
export function useOptions(): UseQueryResult<SiteOptions> {
  return useQuery({
    queryKey: OPTIONS_KEY,
    queryFn: readOptions,
    select: ({ body }) => body,
    // What the person saw before an edit must not be replaced behind it: a save is measured against that.
    enabled: ({ state }) => state.data === undefined || !draft.isDirty(),
  })
}
