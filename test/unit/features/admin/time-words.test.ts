import { expect, test, vi } from 'vitest'

vi.stubGlobal('document', { documentElement: { lang: 'en' } })
const { timeSpan } = await import('../../../../src/browser/admin/sessions/time-words.ts')
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
