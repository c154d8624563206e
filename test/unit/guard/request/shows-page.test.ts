import { expect, test } from 'vitest'
import { showsPage } from '../../../../src/guard/request/shows-page.ts'

test.each([
  { mode: 'navigate', status: 200, shown: true },
  { mode: 'navigate', status: 299, shown: true },
  { mode: 'navigate', status: 300, shown: false },
  { mode: 'navigate', status: 399, shown: false },
  { mode: 'navigate', status: 400, shown: true },
  { mode: 'navigate', status: 500, shown: true },
  { mode: undefined, status: 200, shown: true },
  { mode: undefined, status: 302, shown: false },
  { mode: 'no-cors', status: 200, shown: false },
  { mode: 'cors', status: 401, shown: false },
])('an answer $status to a request of mode $mode is a page that a person sees: $shown', ({ mode, status, shown }) => {
  expect(showsPage({ headers: mode === undefined ? {} : { 'sec-fetch-mode': mode } }, status)).toBe(shown)
})
