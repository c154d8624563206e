import { ADDONS_PATH } from '../../../features/admin/screen-tabs.ts'
import type { Query } from '../rest/queries.ts'

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

/** The query that reads the add-on catalogue. The server has already retried for as long as a user should wait. */
export const ADDONS_QUERY: Query<AddonList> = { key: ['addons'], path: () => ADDONS_PATH, failsAtOnce: true }
