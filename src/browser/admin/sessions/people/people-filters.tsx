import { Select } from '../../parts/forms/select.tsx'
import { place } from '../../screen.ts'
import type { TextKey } from '../../texts/use-texts.ts'
import type { PeopleView } from './use-people.ts'

const SHOWS = [
  ['all', 'show_all'],
  ['at_limit', 'show_at_limit'],
  ['over_limit', 'show_over_limit'],
  ['idle', 'show_idle'],
  ['programs', 'show_programs'],
] as const satisfies readonly (readonly [PeopleView['show'], TextKey])[]

const SORTS = [
  ['recent', 'sort_recent'],
  ['most', 'sort_most'],
] as const satisfies readonly (readonly [PeopleView['sort'], TextKey])[]

/** Reads how people are filtered and sorted from the URL's query. */
export function viewIn(query: URLSearchParams): PeopleView {
  const [show, sort] = [query.get('show'), query.get('sort')]
  return {
    show: SHOWS.find(([value]) => value === show)?.[0] ?? 'all',
    sort: SORTS.find(([value]) => value === sort)?.[0] ?? 'recent',
  }
}

/** Renders the choice of a filter and of an order, which the URL contains. */
export function PeopleFilters({ view }: { view: PeopleView }) {
  const become = (change: Readonly<Record<string, string>>) => place.setQuery({ ...view, ...change })
  return (
    <>
      <Select label="filter" value={view.show} options={SHOWS} onChange={(show) => become({ show })} />
      <Select label="sort" value={view.sort} options={SORTS} onChange={(sort) => become({ sort })} />
    </>
  )
}
