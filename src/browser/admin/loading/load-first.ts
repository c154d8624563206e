import { OPTIONS_QUERY } from '../options/use-options.ts'
import { hasDirectory, queries } from '../screen.ts'
import { peopleQuery, SUMMARY_QUERY } from '../sessions/people/use-people.ts'
import { sessionsQuery } from '../sessions/use-sessions.ts'
import { LATE_PARTS } from './late-parts.ts'

/** How long the screen waits for data, once it has its code. */
const DATA_TIMEOUT_MS = 100

type Part = keyof typeof LATE_PARTS

/**
 * Loads the code and the data of the open tab, so that it is rendered once, with everything in it. Resolves also without
 * them, because the tab then explains what is missing.
 */
export async function loadFirst(key: string, query: URLSearchParams): Promise<void> {
  const name = key === 'sessions' ? (query.get('user') ? 'person' : 'people') : key
  const data = readFirst(name, query)
  if (Object.hasOwn(LATE_PARTS, name)) await LATE_PARTS[name as Part].load().catch(() => {})
  await Promise.race([data, new Promise((resolve) => setTimeout(resolve, DATA_TIMEOUT_MS))])
}

async function readFirst(name: string, query: URLSearchParams): Promise<unknown> {
  if (name === 'settings' || name === 'comments') return queries.prefetchQuery(OPTIONS_QUERY)
  if (name === 'person') return queries.prefetchQuery(sessionsQuery(query.get('user') ?? ''))
  if (name !== 'people' || !hasDirectory) return undefined
  const isFiltered = query.has('show') || query.has('sort')
  const list = !isFiltered && queries.prefetchInfiniteQuery(peopleQuery({ show: 'all', sort: 'recent' }))
  return Promise.all([queries.prefetchQuery(SUMMARY_QUERY), list])
}
