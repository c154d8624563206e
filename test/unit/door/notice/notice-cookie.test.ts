import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { CookieScope } from '../../../../src/door/host-types.ts'
import { NoticeCookie } from '../../../../src/door/notice/tell-notice.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { TestVisit } from '../../../support/test-visit.ts'

const TOKEN = tokenOf('a')
const OTHER = tokenOf('b')
const NOW = 1_700_000_000_000
const SECONDS = NOW / 1000

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
})

/** A request whose session cookie has this scope, and a response to it. */
function scoped(cookieScope: CookieScope | undefined, headers: Record<string, string> = {}, encrypted = false) {
  const message = new IncomingMessage(Object.assign(new Socket(), { encrypted }))
  Object.assign(message.headers, headers)
  const response = new ServerResponse(message)
  new TestVisit({ cookieScope }).standFor(message)
  const cookies = () => [response.getHeader('Set-Cookie') ?? []].flat().map(String)
  return { cookie: new NoticeCookie(message, 600_000), response, cookies }
}

describe('the notice cookie', () => {
  it.each<[string, CookieScope | undefined, Record<string, string>, boolean, string]>([
    [
      'over HTTPS',
      { path: '/', secure: true },
      {},
      false,
      `__Host-sessmgr_notice=${TOKEN}; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax`,
    ],
    [
      'over plain HTTP',
      { path: '/', secure: false },
      {},
      false,
      `sessmgr_notice=${TOKEN}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`,
    ],
    [
      'below a path',
      { path: '/blog', secure: true },
      {},
      false,
      `sessmgr_notice=${TOKEN}; Max-Age=600; Path=/blog; HttpOnly; Secure; SameSite=Lax`,
    ],
    [
      'of a domain',
      { domain: 'example.test', secure: true },
      {},
      false,
      `sessmgr_notice=${TOKEN}; Max-Age=600; Domain=example.test; Path=/; HttpOnly; Secure; SameSite=Lax`,
    ],
    ['on a connection that is encrypted', undefined, {}, true, `__Host-sessmgr_notice=${TOKEN}`],
    [
      'behind a proxy that is',
      undefined,
      { 'x-forwarded-proto': 'https, http' },
      false,
      `__Host-sessmgr_notice=${TOKEN}`,
    ],
    ['behind a proxy that is not', undefined, { 'x-forwarded-proto': 'http, https' }, false, `sessmgr_notice=${TOKEN}`],
    [
      'where nothing is known',
      undefined,
      {},
      false,
      `sessmgr_notice=${TOKEN}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`,
    ],
  ])('applies where the session cookie does: %s', (_, scope, headers, encrypted, expected) => {
    const { cookie, response, cookies } = scoped(scope, headers, encrypted)
    response.setHeader('Set-Cookie', 'other=1')
    cookie.set(response, TOKEN, false)
    expect(cookies()).toEqual(['other=1', expect.any(String)])
    expect(cookies()[1]?.slice(0, expected.length)).toBe(expected)
  })

  it('is read under its own name only, so that no subdomain plants one', () => {
    const secure = { path: '/', secure: true }
    const planted = scoped(secure, { cookie: `sessmgr_notice=${TOKEN}` })
    expect(planted.cookie.kept).toBeUndefined()
    planted.cookie.clear(planted.response)
    expect(planted.cookies()).toEqual([expect.stringMatching(/^sessmgr_notice=; .*Expires=Thu, 01 Jan 1970/)])
    const { kept } = scoped(secure, { cookie: `a=1; __Host-sessmgr_notice=${TOKEN}; sessmgr_notice=${OTHER}` }).cookie
    expect(kept).toEqual({ token: TOKEN, isOver: false })
  })

  it('is not cleared where none was sent, nor where the response has set the next one', () => {
    const none = scoped({ path: '/' })
    none.cookie.clear(none.response)
    expect(none.cookies()).toEqual([])
    const next = scoped({ path: '/' }, { cookie: 'sessmgr_notice=old' })
    next.cookie.set(next.response, TOKEN, false)
    next.cookie.clear(next.response)
    expect(next.cookies()).toEqual([expect.stringMatching(`^sessmgr_notice=${TOKEN}; `)])
  })
})

test('the token in a cookie that is set once more replaces the first, and the cookies of the application stay', () => {
  const { cookie, response, cookies } = scoped({ path: '/' })
  cookie.set(response, OTHER, false)
  response.appendHeader('Set-Cookie', 'other=1')
  cookie.set(response, TOKEN, true)
  expect(cookies()).toEqual([
    'other=1',
    expect.stringMatching(`^sessmgr_notice=${TOKEN}\\.${SECONDS}; Max-Age=2592000; `),
  ])
})

test('a cookie is cleared as an insecure one over plain HTTP, whatever else the response sets', () => {
  const { cookie, response, cookies } = scoped({ path: '/' }, { cookie: 'sessmgr_notice=x' })
  response.setHeader('Set-Cookie', 'other=1')
  cookie.clear(response)
  expect(cookies()).toEqual(['other=1', expect.stringMatching(/^sessmgr_notice=; /)])
  expect(cookies()[1]).not.toContain('Secure')
})

test('a cookie with the prefix __Host- is always cleared as a secure one', () => {
  const { cookie, response, cookies } = scoped({ path: '/' }, { cookie: '__Host-sessmgr_notice=x' })
  cookie.clear(response)
  expect(cookies()).toEqual([expect.stringMatching(/^__Host-sessmgr_notice=; .*Secure/)])
})
