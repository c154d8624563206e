import { expect, test } from 'vitest'
import { asksForPage, showsPage } from '../../../../src/guard/request/shows-page.ts'

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

test.each([
  [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, true],
  [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, true],
  [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' }, false],
  [{ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' }, false],
  [{ 'sec-fetch-mode': 'navigate', purpose: 'prefetch' }, false],
  [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', accept: 'text/html' }, false],
  [{ accept: 'text/html,application/xhtml+xml' }, true],
  [{ accept: 'image/avif,*/*' }, false],
  [{ accept: '*/*' }, false],
  [{}, false],
])('a request with %j asks for a page: %s', (headers, isPage) => {
  expect(asksForPage({ headers: headers as Record<string, string> })).toBe(isPage)
})
