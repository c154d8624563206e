import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import onHeaders from 'on-headers'
import { expect, test } from 'vitest'
import { asksForPage, changeCookies, showsNotice } from '../../../../src/door/request/cookies.ts'
import { cookiesOf } from '../../../../src/door/request/visit.ts'

const COOKIE = 'a=1'

function responseTo(method = 'GET'): ServerResponse {
  return new ServerResponse(Object.assign(new IncomingMessage(new Socket()), { method }))
}

/** Sends a response with a cookie of ours. Returns its cookie and its Cache-Control. */
function sent(given: Readonly<Record<string, string | string[]>>, method?: string) {
  const response = responseTo(method)
  changeCookies(response, () => response.setHeader('Set-Cookie', COOKIE))
  response.writeHead(200, given)
  return [response.getHeader('Set-Cookie'), response.getHeader('Cache-Control')]
}

test('a change is made just before the headers are sent, by what the application has set until then', () => {
  const response = responseTo()
  changeCookies(response, () => response.setHeader('x-seen', String(response.statusCode)))
  expect(response.hasHeader('x-seen')).toBe(false)
  response.writeHead(418)
  expect(response.getHeader('x-seen')).toBe('418')
})

test('a change that fails keeps no answer back', () => {
  const response = responseTo()
  changeCookies(response, () => {
    throw new Error('no such cookie')
  })
  expect(() => response.writeHead(200)).not.toThrow()
  expect(response.headersSent).toBe(true)
})

test.each([
  'public',
  'Public, Max-Age=300',
  'max-age=0,s-maxage=300',
  's-maxage=300',
  'no-cache, public',
  'public, private="x-user"',
  'public, no-cache="private, no-store"',
])('rule 58: a response with Cache-Control: %s gets no cookie', (control) => {
  expect(sent({ 'Cache-Control': control })).toEqual([undefined, control])
  expect(sent({ 'cache-control': control }, 'HEAD')).toEqual([undefined, control])
})

test.each([
  [undefined, 'private'],
  ['', 'private'],
  ['max-age=300', 'max-age=300, private'],
  ['no-cache', 'no-cache, private'],
  ['private="x-user"', 'private="x-user", private'],
  ['Private, max-age=300', 'Private, max-age=300'],
  ['no-store', 'no-store'],
  ['public, no-store', 'public, no-store'],
  ['s-maxage=300, private', 's-maxage=300, private'],
])('rule 58: a response with Cache-Control: %s that gets a cookie is sent with %s', (control, expected) => {
  expect(sent(control === undefined ? {} : { 'Cache-Control': control })).toEqual([COOKIE, expected])
})

test('rule 58: a list of Cache-Control headers counts as one', () => {
  expect(sent({ 'Cache-Control': ['max-age=3', 'public'] })[0]).toBeUndefined()
  expect(sent({ 'Cache-Control': ['max-age=3', 'no-cache'] })).toEqual([COOKIE, 'max-age=3, no-cache, private'])
})

test.each(['CDN-Cache-Control', 'Vercel-CDN-Cache-Control', 'Surrogate-Control'])(
  'rule 58: %s counts as well',
  (name) => {
    expect(sent({ [name]: 'max-age=300', 'Cache-Control': 'no-store' })[0]).toBeUndefined()
    expect(sent({ [name]: 'no-store' })).toEqual([COOKIE, 'private'])
  },
)

test('the response to a form gets its cookies, because caches do not store it', () => {
  expect(sent({ 'Cache-Control': 'public, max-age=300' }, 'POST')).toEqual([COOKIE, 'public, max-age=300'])
  const described = { 'Cache-Control': 'public, max-age=300', 'Content-Location': '/page' }
  expect(sent(described, 'POST')[0]).toBeUndefined()
})

test('a response without a change of its cookies stays as it is', () => {
  const response = responseTo().setHeader('Set-Cookie', COOKIE)
  changeCookies(response, () => {})
  response.writeHead(200)
  expect(response.hasHeader('Cache-Control')).toBe(false)
})

test.each([
  ['Cache-Control', 'public, max-age=300', 'public, max-age=300, private'],
  ['cache-control', ['public', 's-maxage=300'], 'public, s-maxage=300, private'],
  ['CDN-Cache-Control', 'max-age=300', 'private'],
  ['Surrogate-Control', 'max-age=300', 'private'],
])('rule 58: %s: %s, which the application sets after the cookie, does not make it public', (name, value, expected) => {
  const response = responseTo()
  onHeaders(response, () => response.setHeader(name, value))
  changeCookies(response, () => response.setHeader('Set-Cookie', COOKIE))
  response.writeHead(200)
  expect([response.getHeader('Set-Cookie'), response.getHeader('Cache-Control')]).toEqual([COOKIE, expected])
  expect(response.getHeaderNames().toSorted()).toEqual(['cache-control', 'set-cookie'])
})

test.each([
  ['Cache-Control', 'no-store'],
  ['CDN-Cache-Control', 'no-store'],
  ['X-Other', 'public'],
])('rule 58: %s: %s, which the application sets after the cookie, stays', (name, value) => {
  const response = responseTo()
  onHeaders(response, () => expect(response.setHeader(name, value)).toBe(response))
  changeCookies(response, () => response.setHeader('Set-Cookie', COOKIE))
  response.writeHead(200)
  expect(response.getHeader(name)).toBe(value)
})

test.each([
  [undefined, []],
  ['a=1', ['a=1']],
  [
    ['a=1', 'b=2'],
    ['a=1', 'b=2'],
  ],
])('a response with the cookies %j has the list %j', (given, list) => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  if (given) response.setHeader('Set-Cookie', given)
  expect(cookiesOf(response)).toEqual(list)
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
  [299, {}, true],
  [300, {}, false],
  [302, {}, false],
  [400, {}, false],
  [401, {}, true],
  [403, {}, true],
  [404, {}, false],
  [500, {}, false],
  [503, {}, false],
  [200, { 'content-disposition': 'attachment; filename="a.html"' }, false],
  [200, { 'content-disposition': 'inline' }, true],
  [200, { refresh: '0;url=/other' }, false],
  [200, { 'content-type': 'application/json' }, false],
  [200, { 'content-type': 'application/xhtml+xml' }, true],
  [204, {}, false],
  [205, {}, false],
])('a page of status %i with the headers %j is seen: %s', (status, headers, isSeen) => {
  const request = new IncomingMessage(new Socket())
  request.headers = { accept: 'text/html' }
  const response = new ServerResponse(request)
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  expect(showsNotice(request, response)).toBe(isSeen)
})

test.each([
  ['GET', { 'sec-fetch-mode': 'navigate' }, true],
  ['HEAD', { 'sec-fetch-mode': 'navigate' }, false],
  ['GET', { 'sec-fetch-mode': 'cors', accept: 'text/html' }, false],
  ['GET', { 'sec-fetch-mode': 'no-cors' }, false],
  ['GET', { accept: 'image/png' }, false],
])('a page that answers %s with %j is seen: %s', (method, headers, isSeen) => {
  const request = Object.assign(new IncomingMessage(new Socket()), { method })
  request.headers = headers as Record<string, string>
  expect(showsNotice(request, new ServerResponse(request))).toBe(isSeen)
})
