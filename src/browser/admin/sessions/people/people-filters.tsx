import { place } from '../../screen.ts'
import { type TextKey, useTexts } from '../../texts/use-texts.ts'
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
  const t = useTexts()
  const become = (change: Readonly<Record<string, string>>) => place.setQuery({ ...view, ...change })
  return (
    <>
      <select aria-label={t('filter')} value={view.show} onChange={({ target }) => become({ show: target.value })}>
        {SHOWS.map(([value, text]) => (
          <option key={value} value={value}>
            {t(text)}
          </option>
        ))}
      </select>
      <select aria-label={t('sort')} value={view.sort} onChange={({ target }) => become({ sort: target.value })}>
        {SORTS.map(([value, text]) => (
          <option key={value} value={value}>
            {t(text)}
          </option>
        ))}
      </select>
    </>
  )
}
