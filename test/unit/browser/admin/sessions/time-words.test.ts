import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.stubGlobal('document', { documentElement: { lang: 'en' } })
vi.stubGlobal('navigator', { languages: ['de-DE', 'en-GB', 'en'] })
const { noteServerTime, serverNow } = await import('../../../../../src/browser/admin/rest/server-clock.ts')
const { agoOrDay, timeAgo, timeOfDay, timeSpan, timeUntil } = await import(
  '../../../../../src/browser/admin/sessions/time-words.ts'
)
vi.unstubAllGlobals()

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

test.each([
  [30_000, '30 seconds'],
  [MINUTE, '1 minute'],
  [90 * MINUTE, '90 minutes'],
  [36 * HOUR, '36 hours'],
  [14 * DAY, '14 days'],
  // Both ends of the time are rounded.
  [14 * DAY - 1000, '14 days'],
  [HOUR + 1000, '1 hour'],
  [13 * DAY + 4 * HOUR + 5 * MINUTE + 7000, '13 days'],
  [0, '0 seconds'],
])('%i ms are described as "%s"', (ms, words) => {
  expect(timeSpan(ms)).toBe(words)
})

const NOW = Date.UTC(2026, 2, 3, 12)

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }))
afterEach(() => {
  noteServerTime(Date.now())
  vi.useRealTimers()
})

test.each([
  ['a day behind', -DAY],
  ['a day ahead', DAY],
  ['right', 0],
])('with a clock that is %s, times are described by the clock of the server', (_name, wrong) => {
  vi.setSystemTime(NOW + wrong)
  noteServerTime(NOW)
  expect(serverNow()).toBe(NOW)
  expect(timeAgo(NOW - 120_000)).toBe('2 minutes ago')
  expect(agoOrDay(NOW - 3 * DAY)).toBe('3 days ago')
  expect(timeUntil(NOW + 14 * DAY)).toBe('14 days')
})

test('the last answer counts, one without a time changes nothing, and seconds do not count', () => {
  noteServerTime(NOW + DAY)
  noteServerTime(Number.NaN)
  expect(serverNow()).toBe(NOW + DAY)
  noteServerTime(NOW + 2_000)
  expect(serverNow()).toBe(NOW)
})

test('what has happened is never in the future', () => {
  expect(timeAgo(NOW + DAY)).toBe('now')
  expect(agoOrDay(NOW + DAY)).toBe('now')
})

test.each([
  [3_000, 'now'],
  [59_900, 'now'],
  [119_000, '1 minute ago'],
  [90 * MINUTE, '1 hour ago'],
  [2 * DAY - 1000, '1 day ago'],
])('a time %i ms ago is rounded down to "%s"', (ms, words) => {
  expect(timeAgo(NOW - ms, NOW)).toBe(words)
})

test('times have the form of the first of the browser’s languages that is also the page’s', () => {
  expect(timeOfDay(new Date(2026, 2, 3, 21, 12).getTime())).toBe('21:12')
})
