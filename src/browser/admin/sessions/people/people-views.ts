import { FIRST_VIEW } from '../../../../features/admin/screen-tabs.ts'
import type { TextKey } from '../../texts/use-texts.ts'

/** The filters and orders of the list of people. */
export const SHOWS = [
  ['all', 'show_all'],
  ['at_limit', 'show_at_limit'],
  ['over_limit', 'show_over_limit'],
  ['used', 'show_used'],
  ['places', 'show_places'],
  ['idle', 'show_idle'],
  ['programs', 'show_programs'],
] as const satisfies readonly (readonly [value: string, text: TextKey])[]

export const SORTS = [
  ['recent', 'sort_recent'],
  ['most', 'sort_most'],
  ['places', 'sort_places'],
] as const satisfies readonly (readonly [value: string, text: TextKey])[]

/** The filter and order of the list of people, as the server's parameters. */
export interface PeopleView {
  readonly show: (typeof SHOWS)[number][0]
  readonly sort: (typeof SORTS)[number][0]
  /** With `over_limit`: the maximum to compare with, instead of each person's own. */
  readonly than?: string
}

/** Returns the filter and order in the URL's query. */
export function viewIn(query: URLSearchParams): PeopleView {
  const [show, sort, than = ''] = ['show', 'sort', 'than'].map((name) => query.get(name) ?? '')
  return {
    show: SHOWS.find(([value]) => value === show)?.[0] ?? FIRST_VIEW.show,
    sort: SORTS.find(([value]) => value === sort)?.[0] ?? FIRST_VIEW.sort,
    ...(show === 'over_limit' && /^[1-9]\d{0,5}$/.test(than) && { than }),
  }
}
