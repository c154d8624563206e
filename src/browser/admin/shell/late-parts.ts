import {
  FIRST_VIEW,
  OPTIONS_PATH,
  peoplePath,
  type ScreenPart,
  SUMMARY_PATH,
  sessionsPath,
} from '../../../features/admin/screen-tabs.ts'
import { firstPart, OPTIONS_QUERY, queries, vars } from '../screen.ts'
import { peopleQuery, SUMMARY_QUERY } from '../sessions/people/use-people.ts'
import { sessionsQuery } from '../sessions/use-sessions.ts'
import { latePart } from './late-part.tsx'

/** The lazily loaded parts of the screen. */
export const LATE_PARTS = {
  'people-page': latePart(async () => (await import('../sessions/people/people-page.tsx')).PeoplePage),
  'person-page': latePart(async () => (await import('../sessions/person/person-page.tsx')).PersonPage),
  'activity-page': latePart(async () => (await import('../tabs/activity-page.tsx')).ActivityPage),
  'settings-tab': latePart(async () => (await import('../tabs/settings-tab.tsx')).SettingsTab),
  'comments-tab': latePart(async () => (await import('../tabs/comments-tab.tsx')).CommentsTab),
  'addons-tab': latePart(async () => (await import('../tabs/addons-tab.tsx')).AddonsTab),
  'support-tab': latePart(async () => (await import('../tabs/support-tab.tsx')).SupportTab),
} satisfies Partial<Record<ScreenPart, unknown>>

/** How long the screen waits for data once its code is loaded. */
const DATA_TIMEOUT_MS = 100

/**
 * Loads the open tab's code and the data that the page has requested, so that the tab is complete when first rendered.
 * Resolves even if this fails, because the tab then explains what is missing.
 *
 * @param user The user whose page is open, or an empty string.
 */
export async function loadFirst(user: string): Promise<void> {
  const reads: Readonly<Record<string, () => Promise<void>>> = {
    [OPTIONS_PATH]: () => queries.load(OPTIONS_QUERY),
    [SUMMARY_PATH]: () => queries.load(SUMMARY_QUERY),
    [peoplePath(FIRST_VIEW)]: () => queries.load(peopleQuery(FIRST_VIEW)),
    [sessionsPath(user)]: () => queries.load(sessionsQuery(user)),
  }
  const data = Promise.all([...(vars.first?.keys() ?? [])].map((path) => reads[path]?.()))
  if (firstPart in LATE_PARTS) await LATE_PARTS[firstPart as keyof typeof LATE_PARTS].load().catch(() => {})
  await Promise.race([data, new Promise((resolve) => setTimeout(resolve, DATA_TIMEOUT_MS))])
}

/** Loads the code of a part that the user may open next. If that fails, the part shows its error when it is opened. */
export function loadAhead(part: keyof typeof LATE_PARTS): void {
  LATE_PARTS[part].load().catch(() => {})
}
