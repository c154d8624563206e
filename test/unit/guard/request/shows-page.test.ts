import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { asksForPage, isShown, showsPage } from '../../../../src/guard/request/shows-page.ts'

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
  [{ accept: 'text/html, */*', 'x-requested-with': 'XMLHttpRequest' }, false],
  [{ accept: 'text/html', 'turbo-frame': 'comments' }, false],
  [{ 'sec-fetch-mode': 'navigate', 'x-moz': 'prefetch' }, false],
  [{}, false],
])('a request with %j asks for a page: %s', (headers, isPage) => {
  expect(asksForPage({ headers: headers as Record<string, string> })).toBe(isPage)
})

test.each([
  [200, {}, true],
  [401, {}, true],
  [403, {}, true],
  [404, {}, false],
  [500, {}, false],
  [503, {}, false],
  [200, { 'content-disposition': 'attachment; filename="a.html"' }, false],
  [200, { 'content-disposition': 'inline' }, true],
  [200, { refresh: '0;url=/other' }, false],
  [200, { 'content-type': 'application/json' }, false],
])('a page of status %i with the headers %j is seen: %s', (status, headers, isSeen) => {
  const request = new IncomingMessage(new Socket())
  request.headers = { accept: 'text/html' }
  const response = new ServerResponse(request)
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  expect(isShown(request, response)).toBe(isSeen)
})
