import {
  FIRST_VIEW,
  OPTIONS_PATH,
  peoplePath,
  type ScreenPart,
  SUMMARY_PATH,
  sessionsPath,
} from '../../../features/admin/screen-tabs.ts'
import { OPTIONS_QUERY } from '../options/use-options.ts'
import { firstPart, queries, vars } from '../screen.ts'
import { peopleQuery, SUMMARY_QUERY } from '../sessions/people/use-people.ts'
import { sessionsQuery } from '../sessions/use-sessions.ts'
import { latePart } from './late-part.tsx'

/** The parts of the screen whose code is loaded when they are opened. */
export const LATE_PARTS = {
  'people-page': latePart(async () => (await import('../sessions/people/people-page.tsx')).PeoplePage),
  'person-page': latePart(async () => (await import('../sessions/person/person-page.tsx')).PersonPage),
  'activity-page': latePart(async () => (await import('../tabs/activity-page.tsx')).ActivityPage),
  'settings-tab': latePart(async () => (await import('../tabs/settings-tab.tsx')).SettingsTab),
  'comments-tab': latePart(async () => (await import('../tabs/comments-tab.tsx')).CommentsTab),
  'addons-tab': latePart(async () => (await import('../tabs/addons-tab.tsx')).AddonsTab),
  'support-tab': latePart(async () => (await import('../tabs/support-tab.tsx')).SupportTab),
} satisfies Partial<Record<ScreenPart, unknown>>

/** How long the screen waits for data, once it has its code. */
const DATA_TIMEOUT_MS = 100

/**
 * Loads the code of the open tab and the data that the page has asked for, so that the tab is rendered once, with
 * everything in it. Resolves also without them, because the tab then explains what is missing.
 *
 * @param user The user whose page is open.
 */
export async function loadFirst(user: string): Promise<void> {
  const reads: Readonly<Record<string, () => Promise<void>>> = {
    [OPTIONS_PATH]: () => queries.prefetchQuery(OPTIONS_QUERY),
    [SUMMARY_PATH]: () => queries.prefetchQuery(SUMMARY_QUERY),
    [peoplePath(FIRST_VIEW)]: () => queries.prefetchInfiniteQuery(peopleQuery(FIRST_VIEW)),
    [sessionsPath(user)]: () => queries.prefetchQuery(sessionsQuery(user)),
  }
  const data = Promise.all([...(vars.first?.keys() ?? [])].map((path) => reads[path]?.()))
  if (firstPart in LATE_PARTS) await LATE_PARTS[firstPart as keyof typeof LATE_PARTS].load().catch(() => {})
  await Promise.race([data, new Promise((resolve) => setTimeout(resolve, DATA_TIMEOUT_MS))])
}

/** How long to wait for a busy page. */
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
