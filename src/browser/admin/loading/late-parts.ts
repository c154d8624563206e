import { latePart } from './late-part.tsx'

/** The parts of the screen whose code is loaded when they are opened. */
export const LATE_PARTS = {
  people: latePart(async () => (await import('../sessions/people/people-page.tsx')).PeoplePage),
  person: latePart(async () => (await import('../sessions/person/person-page.tsx')).PersonPage),
  activity: latePart(async () => (await import('../activity/activity-page.tsx')).ActivityPage),
  settings: latePart(async () => (await import('../settings/settings-tab.tsx')).SettingsTab),
  comments: latePart(async () => (await import('../comments/comments-tab.tsx')).CommentsTab),
  addons: latePart(async () => (await import('../addons/addons-tab.tsx')).AddonsTab),
  support: latePart(async () => (await import('../support/support-tab.tsx')).SupportTab),
}
