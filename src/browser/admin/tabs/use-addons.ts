import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { ADDONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { rest } from '../screen.ts'

export const ADDONS_KEY = ['addons']

/** One add-on of the catalogue. */
export interface Addon {
  readonly id: number
  readonly title: string
  readonly is_premium: boolean
  /** Whether the add-on is installed and registered. */
  readonly is_active: boolean
  readonly is_license_active: boolean
  readonly license_key: string
  readonly icon: string
  readonly link: string
  readonly description: string
  readonly homepage: string
  readonly banner: string
  readonly banner_large: string
}

/** The add-on catalogue. */
export interface AddonList {
  readonly items: readonly Addon[]
  /** Age of the list in seconds. Set only if the provider could not be reached. */
  readonly age?: number
}

/** Reads the add-on catalogue. */
export function useAddons(): UseQueryResult<AddonList> {
  // Do not retry: the server has already retried for as long as a user should wait.
  return useQuery({
    queryKey: ADDONS_KEY,
    queryFn: async () => (await rest.requestObject<AddonList>('GET', ADDONS_PATH)).body,
    retry: false,
  })
}
