import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { CookieScope, EndedState } from '../../../src/door/host-types.ts'
import { Notices } from '../../../src/door/notice/notices.ts'
import { NoticeCookie, wordNotice } from '../../../src/door/notice/tell-notice.ts'
import type { EndedCause, EndedKind } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createTextsFor } from '../../../src/texts/texts-for.ts'
import { TestVisit } from '../../support/test-visit.ts'

const TOKEN = tokenOf('a')
const OTHER = tokenOf('b')
const CAUSE: EndedCause = { kind: 'displaced', at: 1, device: 'Chrome on Windows' }
const DISPLACED: EndedState = { reason: 'missing', cause: CAUSE }
const NOW = 1_700_000_000_000
const SECONDS = NOW / 1000
const MINUTE = 60_000

/** A site that knows why some sessions ended, and a browser's requests to it, with the dead session and a notice. */
function createSite(causes: Record<string, EndedCause> = {}) {
  const causeOf = vi.fn(async (token: string) => causes[token])
  const textsFor = createTextsFor({}, console)
  const notices = new Notices({ limiter: { causeOf }, endedMemoryMs: 3_600_000, textsFor, securityUrl: undefined })
  function receive(cookie?: string) {
    const request = Object.assign(new IncomingMessage(new Socket()), { httpVersion: '1.1' })
    request.headers = { accept: 'text/html', ...(cookie !== undefined && { cookie: `sessmgr_notice=${cookie}` }) }
    const visit = Object.assign(new TestVisit({ sessmgr: {} }), { raw: request })
    visit.standFor(request)
    const response = new ServerResponse(request)
    const told = async (ended: EndedState) => {
      visit.sessmgr = { ended: await notices.keep(request, TOKEN, async () => ended, response) }
      const { reason, cause } = (await notices.members.notice(request, response)) ?? {}
      return { reason, ...(cause && { cause }) }
    }
    return { request, response, told }
  }
  return { notices, causeOf, receive }
}

const shownAt = (seconds: number) =>
  `sessmgr_notice=${TOKEN}.${seconds}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax`
const CLEARED = expect.stringMatching(/^sessmgr_notice=; .*Expires=Thu, 01 Jan 1970/)

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
})

// Where it is announced and shown, and for how long: behaviour/hosts/notice.check.ts.
describe('a notice', () => {
  it('tells of the own end before an older one, and of that if nothing is known of the own', async () => {
    const { receive, causeOf } = createSite({ [OTHER]: { ...CAUSE, kind: 'logout_all' } })
    const own: EndedState[] = [{ reason: 'ended' }, { reason: 'missing', cause: { ...CAUSE, kind: 'admin' } }]
    for (const ended of own) expect(await receive(OTHER).told(ended)).toEqual(ended)
    expect(causeOf).not.toHaveBeenCalled()
    const older = await receive(OTHER).told({ reason: 'missing' })
    expect(older).toMatchObject({ reason: 'logout_all', cause: { kind: 'logout_all' } })
  })

  it('is lost if the reason cannot be looked up, or the code for it not be loaded, and nothing else', async () => {
    const { notices, receive } = createSite()
    const { request, response } = receive()
    const fail = () => Promise.reject(new Error('down'))
    expect(await notices.keep(request, TOKEN, fail, response)).toEqual({ reason: 'missing' })
    vi.spyOn(notices, 'load').mockRejectedValue(new Error('updated in place'))
    expect(await notices.keep(request, TOKEN, async () => DISPLACED, response)).toEqual({ reason: 'missing' })
    response.writeHead(200)
    expect(response.hasHeader('Set-Cookie')).toBe(false)
  })

  it('needs a request and a response', async () => {
    const { notices, receive } = createSite()
    const { notice, signedOut } = notices.members
    const { request } = receive()
    const error = (call: string) => ({ code: 'invalid_option', message: expect.stringContaining(`limiter.${call}`) })
    await expect(notice(undefined as never, {} as never)).rejects.toMatchObject(error('notice(request, response)'))
    await expect(notice(request, undefined as never)).rejects.toThrow('The response is missing')
    await expect(signedOut(undefined as never)).rejects.toMatchObject(error('signedOut(request)'))
  })
})

describe('the notice cookie', () => {
  /** A request whose session cookie has this scope, and a response to it. */
  function scoped(cookieScope: CookieScope | undefined, headers: Record<string, string> = {}, encrypted = false) {
    const message = new IncomingMessage(Object.assign(new Socket(), { encrypted }))
    Object.assign(message.headers, headers)
    const response = new ServerResponse(message)
    new TestVisit({ cookieScope }).standFor(message)
    response.setHeader('Set-Cookie', 'other=1')
    const cookies = () => [response.getHeader('Set-Cookie') ?? []].flat().map(String)
    return { cookie: new NoticeCookie(message, 600_000), response, cookies }
  }

  it('applies where the session cookie does, and else by how the browser is connected', () => {
    const secure = 'HttpOnly; Secure; SameSite=Lax'
    for (const [expected, scope, headers, encrypted] of [
      [`__Host-sessmgr_notice=${TOKEN}; Max-Age=600; Path=/; ${secure}`, { path: '/', secure: true }],
      [`sessmgr_notice=${TOKEN}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`, { path: '/', secure: false }],
      [`sessmgr_notice=${TOKEN}; Max-Age=600; Path=/blog; ${secure}`, { path: '/blog', secure: true }],
      [`sessmgr_notice=${TOKEN}; Max-Age=600; Domain=a.test; Path=/; ${secure}`, { domain: 'a.test', secure: true }],
      [`__Host-sessmgr_notice=${TOKEN}`, undefined, {}, true],
      [`__Host-sessmgr_notice=${TOKEN}`, undefined, { 'x-forwarded-proto': 'https, http' }],
      [`sessmgr_notice=${TOKEN}`, undefined, { 'x-forwarded-proto': 'http, https' }],
      [`sessmgr_notice=${TOKEN}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`, undefined],
    ] as const) {
      const { cookie, response, cookies } = scoped(scope, headers, encrypted)
      cookie.set(response, TOKEN, false)
      expect(cookies()).toEqual(['other=1', expect.any(String)])
      expect(cookies()[1]?.slice(0, expected.length)).toBe(expected)
    }
  })

  it('is read under its own name only, so that no subdomain plants one, and cleared under both', () => {
    const secure = { path: '/', secure: true }
    const planted = scoped(secure, { cookie: `sessmgr_notice=${TOKEN}` })
    expect(planted.cookie.kept).toBeUndefined()
    planted.cookie.clear(planted.response)
    expect(planted.cookies()).toEqual(['other=1', CLEARED])
    const { kept } = scoped(secure, { cookie: `__Host-sessmgr_notice=${TOKEN}; sessmgr_notice=${OTHER}` }).cookie
    expect(kept).toEqual({ token: TOKEN, isOver: false })
    const host = scoped({ path: '/' }, { cookie: '__Host-sessmgr_notice=x' })
    host.cookie.clear(host.response)
    expect(host.cookies()).toEqual(['other=1', expect.stringMatching(/^__Host-sessmgr_notice=; .*Secure/)])
  })

  it('replaces the one of before, and is cleared only where one was sent and none was set', () => {
    const { cookie, response, cookies } = scoped({ path: '/' }, { cookie: 'sessmgr_notice=old' })
    cookie.set(response, OTHER, false)
    cookie.set(response, TOKEN, true)
    cookie.clear(response)
    expect(cookies()).toEqual(['other=1', shownAt(SECONDS)])
    const none = scoped({ path: '/' })
    none.cookie.clear(none.response)
    expect(none.cookies()).toEqual(['other=1'])
    const plain = scoped({ path: '/' }, { cookie: 'sessmgr_notice=x' })
    plain.cookie.clear(plain.response)
    expect(plain.cookies()[1]).not.toContain('Secure')
  })
})

describe('the words of a notice', () => {
  const AT = Date.UTC(2026, 10, 21, 23, 4)
  const stateOf = (kind: EndedKind, device: string | null = 'Chrome on Windows', note?: string): EndedState => ({
    reason: 'missing',
    cause: { kind, at: AT, device, ...(note !== undefined && { note }) },
  })
  const texts = (replaced = {}) => createTextsFor(replaced, console)()
  const word = (state: EndedState, now = AT + 9 * MINUTE, securityUrl?: string) =>
    wordNotice(state, texts(), securityUrl, now)

  it('name the kind of end, its device and its time, and advise where it may have been someone else', () => {
    for (const [kind, known, unknown, isAdvised] of [
      ['displaced', 'signed in on Chrome on Windows.', 'signed in somewhere else.', true],
      ['never_used', 'signed in on Chrome on Windows.', 'signed in somewhere else.', true],
      ['chosen', 'to make room for Chrome on Windows.', 'to make room for another device.', true],
      ['idle', 'to make room for Chrome on Windows', 'to make room for another device', false],
      [
        'user',
        'someone who uses this account did that on Chrome on Windows.',
        'someone who uses this account did that.',
        true,
      ],
      ['admin', 'An administrator did that 9 minutes ago.', 'An administrator did that 9 minutes ago.', false],
      ['reused', '9 minutes ago, an old token of', '9 minutes ago, an old token of', true],
      ['app', 'That happened 9 minutes ago.', 'That happened 9 minutes ago.', false],
      ['logout_all', 'That happened 9 minutes ago.', 'That happened 9 minutes ago.', false],
      // Noted by a newer release.
      ['moved', 'That happened 9 minutes ago.', 'That happened 9 minutes ago.', false],
    ] as [EndedKind, string, string, boolean][]) {
      const notice = word(stateOf(kind))
      expect([notice.text, word(stateOf(kind, null)).text]).toEqual(
        [known, unknown].map((part) => expect.stringContaining(part)),
      )
      expect(notice).toMatchObject({ reason: 'missing', cause: { kind }, at: '2026-11-21T23:04:00Z' })
      expect([notice.advice !== undefined, notice.html.includes('{')], kind).toEqual([isAdvised, false])
    }
    expect(word(stateOf('app', null, 'Bye.')).text).toBe('That happened 9 minutes ago. Bye.')
    expect(word(stateOf('displaced', null), AT).text).toBe('Just now, this account signed in somewhere else.')
  })

  it('are escaped in HTML, with a link to the page of the advice', () => {
    const { html, text, adviceUrl } = word(stateOf('displaced', '<b>', '"<img onerror=x>'), AT, '/account?a=1&b=2')
    expect([text, adviceUrl]).toEqual([expect.stringContaining('<b>'), '/account?a=1&b=2'])
    for (const part of ['<bdi>&lt;b&gt;</bdi>', '<bdi>&quot;&lt;img onerror=x&gt;</bdi>', '"/account?a=1&amp;b=2"']) {
      expect(html).toContain(part)
    }
    expect(html).not.toMatch(/<b>|<img/)
  })
})
