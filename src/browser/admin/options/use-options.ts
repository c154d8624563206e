import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { rest } from '../screen.ts'

/** Path of the route that reads and writes every option. */
export const OPTIONS_PATH = 'wp/v2/settings'
export const OPTIONS_KEY = ['options']

/** Every option of the site that is exposed, by name. */
export type SiteOptions = Readonly<Record<string, unknown>>

/** Reads every option of the site, once for all who ask. */
export function useOptions(): UseQueryResult<SiteOptions> {
  return useQuery({ queryKey: OPTIONS_KEY, queryFn: () => rest.request<SiteOptions>('GET', OPTIONS_PATH) })
}
