import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.stubGlobal('document', { documentElement: { lang: 'en' } })
vi.stubGlobal('navigator', { languages: ['de-DE', 'en-GB', 'en'] })
const { noteServerTime, serverNow } = await import('../../../../../src/browser/admin/rest/server-clock.ts')
const { agoOrDay, timeAgo, timeOfDay, timeSpan, timeUntil } = await import(
  '../../../../../src/browser/admin/sessions/time-words.ts'
)
vi.unstubAllGlobals()

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

test('a span is described in the largest unit that says it, both its ends rounded', () => {
  for (const [ms, words] of [
    [30_000, '30 seconds'],
    [MINUTE, '1 minute'],
    [90 * MINUTE, '90 minutes'],
    [36 * HOUR, '36 hours'],
    [14 * DAY - 1000, '14 days'],
    [HOUR + 1000, '1 hour'],
    [13 * DAY + 4 * HOUR + 5 * MINUTE + 7000, '13 days'],
    [0, '0 seconds'],
  ] as const) {
    expect(timeSpan(ms)).toBe(words)
  }
})

const NOW = Date.UTC(2026, 2, 3, 12)

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }))
afterEach(() => {
  noteServerTime(Date.now())
  vi.useRealTimers()
})

test('times are described by the clock of the server, whatever that of the browser', () => {
  for (const wrong of [-DAY, DAY, 0]) {
    vi.setSystemTime(NOW + wrong)
    noteServerTime(NOW)
    expect(serverNow()).toBe(NOW)
    expect(timeAgo(NOW - 120_000)).toBe('2 minutes ago')
    expect(agoOrDay(NOW - 3 * DAY)).toBe('3 days ago')
    expect(timeUntil(NOW + 14 * DAY)).toBe('14 days')
  }
})

test('the last answer counts, one without a time changes nothing, and seconds do not count', () => {
  noteServerTime(NOW + DAY)
  noteServerTime(Number.NaN)
  expect(serverNow()).toBe(NOW + DAY)
  noteServerTime(NOW + 2_000)
  expect(serverNow()).toBe(NOW)
})

test('what has happened is rounded down, and never in the future', () => {
  for (const [ms, words] of [
    [-DAY, 'now'],
    [59_900, 'now'],
    [119_000, '1 minute ago'],
    [90 * MINUTE, '1 hour ago'],
    [2 * DAY - 1000, '1 day ago'],
  ] as const) {
    expect(timeAgo(NOW - ms, NOW)).toBe(words)
  }
  expect(agoOrDay(NOW + DAY)).toBe('now')
})

test('times have the form of the first of the browser’s languages that is also the page’s', () => {
  expect(timeOfDay(new Date(2026, 2, 3, 21, 12).getTime())).toBe('21:12')
})
