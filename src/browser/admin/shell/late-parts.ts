import { OPTIONS_QUERY } from '../options/use-options.ts'
import { hasDirectory, queries } from '../screen.ts'
import { peopleQuery, SUMMARY_QUERY } from '../sessions/people/use-people.ts'
import { sessionsQuery } from '../sessions/use-sessions.ts'
import { latePart } from './late-part.tsx'

/** The parts of the screen whose code is loaded when they are opened. */
export const LATE_PARTS = {
  people: latePart(async () => (await import('../sessions/people/people-page.tsx')).PeoplePage),
  person: latePart(async () => (await import('../sessions/person/person-page.tsx')).PersonPage),
  activity: latePart(async () => (await import('../tabs/activity-page.tsx')).ActivityPage),
  settings: latePart(async () => (await import('../tabs/settings-tab.tsx')).SettingsTab),
  comments: latePart(async () => (await import('../tabs/comments-tab.tsx')).CommentsTab),
  addons: latePart(async () => (await import('../tabs/addons-tab.tsx')).AddonsTab),
  support: latePart(async () => (await import('../tabs/support-tab.tsx')).SupportTab),
}

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

/** When a busy page is not waited for any longer. */
const IDLE_TIMEOUT_MS = 5_000

/**
 * Loads the code of all parts, so that they open at once, and also after an update of the server. Waits until the open
 * tab has its data and the browser is idle.
 *
 * @param first Responses that the page is waiting for.
 */
export async function loadOthers(first: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(first)
  await idle()
  await nothingIsRead()
  for (const part of Object.values(LATE_PARTS)) {
    await idle()
    // A part that fails says so when it is opened.
    await part.load().catch(() => {})
  }
}

function nothingIsRead(): Promise<void> {
  return new Promise((resolve) => {
    const stop = queries.getQueryCache().subscribe(look)
    look()
    function look(): void {
      if (queries.isFetching() > 0) return
      stop()
      resolve()
    }
  })
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no such function.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: IDLE_TIMEOUT_MS })
    else setTimeout(resolve)
  })
}
