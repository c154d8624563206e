import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import onHeaders from 'on-headers'
import { expect, test } from 'vitest'
import { asksForPage, changeCookies, showsNotice } from '../../../src/door/request/cookies.ts'
import { DeviceCookies } from '../../../src/door/request/device-cookies.ts'
import { clientRequest } from '../../support/login-host.ts'

const COOKIE = 'a=1'

function responseTo(method = 'GET', headers = {}): ServerResponse {
  const request = Object.assign(new IncomingMessage(new Socket()), { method })
  request.headers = headers
  return new ServerResponse(request)
}

/** Sends a response with a cookie of ours. Returns its cookie and its Cache-Control. */
function sent(given: Readonly<Record<string, string | string[]>>, method?: string) {
  const response = responseTo(method)
  changeCookies(response, () => response.setHeader('Set-Cookie', COOKIE))
  response.writeHead(200, given)
  return [response.getHeader('Set-Cookie'), response.getHeader('Cache-Control')]
}

test('rule 58: a response that caches may share gets no cookie; any other one with a cookie is private', () => {
  for (const shared of [
    'Public, Max-Age=300',
    'max-age=0,s-maxage=300',
    'no-cache, public',
    'public, private="x-user"',
    'public, no-cache="private, no-store"',
  ]) {
    expect(sent({ 'Cache-Control': shared }), shared).toEqual([undefined, shared])
    expect(sent({ 'cache-control': shared }, 'HEAD'), shared).toEqual([undefined, shared])
  }
  for (const [control, expected] of [
    [undefined, 'private'],
    ['', 'private'],
    ['max-age=300', 'max-age=300, private'],
    ['private="x-user"', 'private="x-user", private'],
    ['Private, max-age=300', 'Private, max-age=300'],
    ['public, no-store', 'public, no-store'],
    ['s-maxage=300, private', 's-maxage=300, private'],
  ] as const) {
    const given = control === undefined ? {} : { 'Cache-Control': control }
    expect(sent(given), control).toEqual([COOKIE, expected])
  }
  expect(sent({ 'Cache-Control': ['max-age=3', 'public'] })[0]).toBeUndefined()
  expect(sent({ 'Cache-Control': ['max-age=3', 'no-cache'] })).toEqual([COOKIE, 'max-age=3, no-cache, private'])
  for (const name of ['CDN-Cache-Control', 'Vercel-CDN-Cache-Control', 'Surrogate-Control']) {
    expect(sent({ [name]: 'max-age=300', 'Cache-Control': 'no-store' })[0], name).toBeUndefined()
    expect(sent({ [name]: 'no-store' }), name).toEqual([COOKIE, 'private'])
  }
})

test('rule 58: what the application sets after the cookie does not make a response public', () => {
  for (const [name, value, expected] of [
    ['Cache-Control', 'public, max-age=300', { 'cache-control': 'public, max-age=300, private' }],
    ['cache-control', ['public', 's-maxage=300'], { 'cache-control': 'public, s-maxage=300, private' }],
    ['CDN-Cache-Control', 'max-age=300', { 'cache-control': 'private' }],
    ['Surrogate-Control', 'max-age=300', { 'cache-control': 'private' }],
    ['Cache-Control', 'no-store', { 'cache-control': 'no-store' }],
    ['CDN-Cache-Control', 'no-store', { 'cache-control': 'private', 'cdn-cache-control': 'no-store' }],
    ['X-Other', 'public', { 'cache-control': 'private', 'x-other': 'public' }],
  ] as const) {
    const response = responseTo()
    onHeaders(response, () => expect(response.setHeader(name, value as string)).toBe(response))
    changeCookies(response, () => response.setHeader('Set-Cookie', COOKIE))
    response.writeHead(200)
    expect({ ...response.getHeaders() }, `${name}: ${value}`).toEqual({ 'set-cookie': COOKIE, ...expected })
  }
})

test('a request asks for a page by its Sec-Fetch headers, or by what it accepts', () => {
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  for (const [headers, isPage] of [
    [navigation, true],
    [{ ...navigation, 'sec-fetch-dest': 'iframe' }, true],
    [{ ...navigation, 'sec-fetch-dest': 'object' }, false],
    [{ ...navigation, 'sec-purpose': 'prefetch;prerender' }, false],
    [{ ...navigation, purpose: 'prefetch' }, false],
    [{ ...navigation, 'x-moz': 'prefetch' }, false],
    [{ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', accept: 'text/html' }, false],
    [{ accept: 'text/html,application/xhtml+xml' }, true],
    [{ accept: 'image/avif,*/*' }, false],
    [{ accept: 'text/html, */*', 'x-requested-with': 'XMLHttpRequest' }, false],
    [{ accept: 'text/html', 'turbo-frame': 'comments' }, false],
    [{ accept: 'text/html', 'hx-request': 'true' }, false],
    [{}, false],
  ] as const) {
    expect(asksForPage({ headers }), JSON.stringify(headers)).toBe(isPage)
  }
})

test('a page is seen by its status, its headers and its method', () => {
  const seen = (status: number, headers: Record<string, string>, method?: string) => {
    const response = Object.assign(responseTo(method, { accept: 'text/html' }), { statusCode: status })
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    return showsNotice(response.req, response)
  }
  for (const status of [200, 299, 401, 403]) expect(seen(status, {}), String(status)).toBe(true)
  for (const status of [204, 205, 300, 302, 400, 404, 500]) expect(seen(status, {}), String(status)).toBe(false)
  for (const [name, value, isSeen] of [
    ['content-disposition', 'attachment; filename="a.html"', false],
    ['content-disposition', 'inline', true],
    ['refresh', '0;url=/other', false],
    ['content-type', 'application/json', false],
    ['content-type', 'application/xhtml+xml', true],
    ['content-type', 'image/svg+xml', true],
  ] as const) {
    expect(seen(200, { [name]: value }), value).toBe(isSeen)
  }
  expect(seen(200, {}, 'HEAD')).toBe(false)
  const image = responseTo('GET', { accept: 'image/png' })
  expect(showsNotice(image.req, image), 'an image').toBe(false)
})

const devices = new DeviceCookies('device')
const VALUE = 'hWqp9_x-0AbCdEfGhIjKlQ'

test('the device cookie identifies a browser to each user and to no one else, and is new for one without', () => {
  const mine = devices.recognize(7, `device=${VALUE}`)
  expect(mine.id).toMatch(/^[\w-]{16}$/)
  expect(devices.recognize('7', `a=b; device=${VALUE}; c=d`)).toEqual(mine)
  expect(devices.recognize(8, `device=${VALUE}`).id).not.toBe(mine.id)
  expect(mine.cookie).toContain(`device=${VALUE}; Max-Age=34560000;`)
  expect(mine.cookie).not.toContain(mine.id)
  for (const header of [undefined, 'device=forged', `device=${VALUE}x`, `device=x${VALUE}`]) {
    const [first, second] = [devices.recognize(7, header), devices.recognize(7, header)]
    expect([first.isSent, first.id === second.id]).toEqual([false, false])
    expect(devices.recognize(7, first.cookie)).toEqual({ ...first, isSent: true })
  }
})

test('the device cookie is removed under both names, and forgetDevice() refuses what is no response', () => {
  const response = new ServerResponse(clientRequest() as never)
  response.setHeader('Set-Cookie', ['sid=1', `device=${VALUE}`])
  devices.forget({ raw: response })
  response.writeHead(200)
  const gone = [/^__Host-device=; Max-Age=0; Path=\/; .*Secure/, /^device=; Max-Age=0/]
  expect(response.getHeader('Set-Cookie')).toEqual(['sid=1', ...gone.map((cookie) => expect.stringMatching(cookie))])
  for (const wrong of [undefined, null, {}, 'response']) {
    expect(() => devices.forget(wrong as never)).toThrow('limiter.forgetDevice(response)')
  }
})
