import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import type { CookieScope, EndedState, HostRequest } from '../../../../src/guard/host-types.ts'
import { Notices } from '../../../../src/guard/notice/notices.ts'
import { NoticeCookie, wordNotice } from '../../../../src/guard/notice/tell-notice.ts'
import { visitOf } from '../../../../src/guard/request/visit.ts'
import type { EndedKind, Texts } from '../../../../src/index.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'
import { TestVisit } from '../../../support/test-visit.ts'

const DISPLACED: EndedState = { reason: 'missing', cause: { kind: 'displaced', at: 1, device: 'Chrome on Windows' } }

const notices = () =>
  new Notices({
    siteSecrets: { all: async () => ['a'.repeat(32)] },
    textsFor: createTextsFor({}, console),
    securityUrl: undefined,
  })

/** A request of a browser whose session may have ended, and the response to it. */
function exchange({ ended, accept = 'text/html', cookie }: { ended?: EndedState; accept?: string; cookie?: string }) {
  const request = new IncomingMessage(new Socket())
  request.httpVersion = '1.1'
  request.headers = { accept, ...(cookie !== undefined && { cookie }) }
  new TestVisit(Object.assign(request as HostRequest, { sessmgr: ended ? { ended } : {} })).standFor(request)
  const response = new ServerResponse(request)
  /** Sends the headers, and returns the cookies among them. */
  const send = (type = 'text/html') => {
    response.setHeader('Content-Type', type)
    response.writeHead(200)
    return [response.getHeader('Set-Cookie') ?? []].flat().map(String)
  }
  return { request, response, send }
}

/** What a browser sends back after a response that removed its session cookie. */
async function keptCookie(site: Notices): Promise<string> {
  const { request, response, send } = exchange({ ended: DISPLACED })
  await site.keep(request, DISPLACED, response, () => true)
  return String(send()[0]?.split(';')[0])
}

/** What a page shows to a browser that has received a cookie. */
async function toldNext(site: Notices, setCookie: string | undefined) {
  const { request, response } = exchange({ cookie: String(setCookie?.split(';')[0]) })
  return site.members.notice(request, response)
}

describe('the notice of a response that may remove the session cookie', () => {
  it.each([
    [true, [expect.stringMatching(/^sessmgr_notice=\w/)]],
    [false, []],
  ])('is kept when it does so by then: %s', async (losesCookie, cookies) => {
    const site = notices()
    const { request, response, send } = exchange({ ended: DISPLACED })
    await site.keep(request, DISPLACED, response, () => losesCookie)
    expect(send()).toEqual(cookies)
  })

  it.each(['text/html', 'application/json'])(
    'is kept for the next page after the application has read it, whether the response shows it or not: %s',
    async (type) => {
      const site = notices()
      const { request, response, send } = exchange({ ended: DISPLACED })
      expect(await site.members.notice(request, response)).toMatchObject(DISPLACED)
      await site.keep(request, DISPLACED, response, () => true)
      const [cookie, ...more] = send(type)
      expect([await toldNext(site, cookie), more]).toEqual([expect.objectContaining(DISPLACED), []])
    },
  )

  it('is kept once a script has got it', async () => {
    const site = notices()
    const { request, response, send } = exchange({ ended: DISPLACED, accept: 'application/json' })
    expect(await site.forScript(request, response)).toMatchObject(DISPLACED)
    await site.keep(request, DISPLACED, response, () => true)
    const [cookie, ...more] = send('application/json')
    expect([await toldNext(site, cookie), more]).toEqual([expect.objectContaining(DISPLACED), []])
  })
})

describe('a request that reads the notice', () => {
  it('gets that of the cookie, for ten minutes after a page or a script has shown it', async () => {
    const site = notices()
    const { request, response } = exchange({ cookie: await keptCookie(site), accept: 'application/json' })
    expect(await site.forScript(request, response)).toMatchObject(DISPLACED)
    const [set] = response.getHeader('Set-Cookie') as string[]
    const cookie = String(set?.split(';')[0])
    const page = exchange({ cookie })
    expect(await site.members.notice(page.request, page.response)).toMatchObject(DISPLACED)
    expect(page.send()).toEqual([])
    const again = exchange({ cookie, accept: 'application/json' })
    expect(await site.forScript(again.request, again.response)).toMatchObject(DISPLACED)
    expect(again.response.hasHeader('Set-Cookie')).toBe(false)
    vi.useFakeTimers({ now: Date.now() + 600_001, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await toldNext(site, set)).toBeUndefined()
  })

  it('gets none with a live session, and loses the cookie', async () => {
    const site = notices()
    const { request, response, send } = exchange({ cookie: await keptCookie(site) })
    Object.assign(visitOf(request) ?? {}, { sessmgr: { session: { userId: 7, token: 'a'.repeat(64) } } })
    expect(await site.members.notice(request, response)).toBeUndefined()
    expect(send()).toEqual([expect.stringMatching(/^sessmgr_notice=; /)])
  })

  it('gets none unless it asks for a page, and leaves the cookie to the next page', async () => {
    const site = notices()
    const { request, response, send } = exchange({ cookie: await keptCookie(site), accept: 'image/png' })
    expect(await site.members.notice(request, response)).toBeUndefined()
    expect(send()).toEqual([])
  })

  it('clears a cookie that is forged, whatever it asks for', async () => {
    const { request, response, send } = exchange({ cookie: 'sessmgr_notice=forged', accept: 'image/png' })
    expect(await notices().members.notice(request, response)).toBeUndefined()
    expect(send()).toEqual([expect.stringMatching(/^sessmgr_notice=; /)])
  })

  it.each<EndedState>([
    { reason: 'ended' },
    { reason: 'logout_all' },
    { reason: 'missing', cause: { kind: 'admin', at: 2, device: null } },
  ])('is told of its own end before an older one: %j', async (ended) => {
    const site = notices()
    const { request, response } = exchange({ ended, cookie: await keptCookie(site) })
    const { reason, cause } = (await site.members.notice(request, response)) ?? {}
    expect({ reason, cause }).toEqual({ cause: undefined, ...ended })
  })

  it('loads nothing when there can be none', async () => {
    const site = notices()
    const load = vi.spyOn(site, 'load')
    for (const cookie of [undefined, 'sid=1']) {
      const { request, response } = exchange({ ...(cookie !== undefined && { cookie }) })
      expect(await site.members.notice(request, response)).toBeUndefined()
    }
    expect(load).not.toHaveBeenCalled()
  })
})

describe('the body of a 401 response', () => {
  it('says why the session is over, as far as that is known', async () => {
    const { members } = notices()
    const ended: EndedState = { reason: 'ended', cause: { kind: 'app', at: 0, device: null, note: 'Bye.' } }
    expect(await members.signedOut(exchange({ ended }).request)).toEqual({
      code: 'session_ended',
      message: expect.stringMatching(/^You were signed out on this device\. .* Bye\.$/),
      data: { status: 401, reason: 'ended', kind: 'app', at: '1970-01-01T00:00:00Z', device: null, note: 'Bye.' },
    })
    expect(await members.signedOut(exchange({ ended: { reason: 'missing' } }).request)).toEqual({
      code: 'session_ended',
      message: 'Please sign in again. Your session ended.',
      data: { status: 401, reason: 'missing', kind: null, at: null, device: null, note: null },
    })
  })

  it('is none while the session is live', async () => {
    expect(await notices().members.signedOut(exchange({}).request)).toBeUndefined()
  })
})

const AT = Date.UTC(2026, 10, 21, 23, 4)
const MINUTE = 60_000

const texts = (replaced: Texts = {}) => createTextsFor(replaced, console)()
const ended = (kind: EndedKind, device: string | null = 'Chrome on Windows', note?: string): EndedState => ({
  reason: 'missing',
  cause: { kind, at: AT, device, ...(note !== undefined && { note }) },
})
const word = (state: EndedState, now = AT + 9 * MINUTE, securityUrl?: string) =>
  wordNotice(state, texts(), securityUrl, now)

describe('the notice to a user who was signed out', () => {
  it.each<[EndedKind, string, string]>([
    ['displaced', 'this account signed in on Chrome on Windows.', 'this account signed in somewhere else.'],
    ['chosen', 'this session was chosen to make room for Chrome on Windows.', 'to make room for another device.'],
    ['idle', 'signed out to make room for Chrome on Windows', 'signed out to make room for another device'],
    ['user', 'You did that 9 minutes ago on Chrome on Windows.', 'You did that 9 minutes ago.'],
    ['admin', 'An administrator did that 9 minutes ago.', 'An administrator did that 9 minutes ago.'],
    ['app', 'That happened 9 minutes ago.', 'That happened 9 minutes ago.'],
    ['logout_all', 'That happened 9 minutes ago.', 'That happened 9 minutes ago.'],
  ])('says how a session ended: %s', (kind, known, unknown) => {
    expect(word(ended(kind)).text).toContain(known)
    expect(word(ended(kind, null)).text).toContain(unknown)
    expect(word(ended(kind)).text).toContain('9 minutes ago')
    expect(word(ended(kind))).toMatchObject({ reason: 'missing', cause: { kind }, at: '2026-11-21T23:04:00Z' })
    expect(word(ended(kind)).html).not.toContain('{')
  })

  it('has a title for everybody, for one, and for an end of which nothing is known', () => {
    expect(word(ended('displaced')).title).toBe('You were signed out on this device.')
    expect(word(ended('logout_all')).title).toBe('Everyone was signed out.')
    expect(word({ reason: 'logout_all' })).toMatchObject({
      title: 'Everyone was signed out.',
      text: 'Your session ended.',
    })
    expect(word({ reason: 'ended' })).toEqual({
      reason: 'ended',
      title: 'Please sign in again.',
      text: 'Your session ended.',
      html: '<div class="sessmgr-notice note" role="status"><strong>Please sign in again.</strong> Your session ended.</div>',
    })
  })

  it('advises where it may have been someone else, with a link if there is a page for it', () => {
    const advised = (['displaced', 'chosen', 'idle', 'user', 'admin', 'app', 'logout_all'] as const).filter(
      (kind) => word(ended(kind)).advice !== undefined,
    )
    expect(advised).toEqual(['displaced', 'chosen', 'user'])
    expect(word(ended('displaced'))).not.toHaveProperty('adviceUrl')
    const linked = word(ended('displaced'), AT, '/account?a=1&b=2')
    expect(linked.adviceUrl).toBe('/account?a=1&b=2')
    expect(linked.html).toContain('<a href="/account?a=1&amp;b=2">If that was not you, change your password now.</a>')
  })

  it('ends with the note of the application', () => {
    expect(word(ended('app', null, 'Bye.')).text).toBe('That happened 9 minutes ago. Bye.')
  })

  it('escapes what the application and the other side have written', () => {
    const { html, text } = word(ended('displaced', '<b>', '"<img onerror=x>'))
    expect(text).toContain('<b>')
    expect(html).toContain('<bdi>&lt;b&gt;</bdi>')
    expect(html).toContain('<bdi>&quot;&lt;img onerror=x&gt;</bdi>')
    expect(html).not.toMatch(/<b>|<img/)
  })

  it.each([
    [MINUTE, '1 minute ago'],
    [59 * MINUTE, '59 minutes ago'],
    [60 * MINUTE, '1 hour ago'],
    [25 * 60 * MINUTE, 'Yesterday'],
    [72 * 60 * MINUTE, '3 days ago'],
  ])('says after %d ms that it was %s, and when exactly', (ms, ago) => {
    const { text, html } = word(ended('displaced'), AT + ms)
    expect(text).toMatch(new RegExp(`^${ago}, `))
    expect(html).toContain(`<time datetime="2026-11-21T23:04:00Z" title="21 Nov 2026, 23:04 UTC">${ago}</time>`)
    expect(word(ended('admin'), AT + ms).text).toBe(`An administrator did that ${ago.toLowerCase()}.`)
  })

  it.each([-MINUTE, 0, MINUTE - 1])('says after %d ms that a login was just now, and when exactly', (ms) => {
    const { text, html } = word(ended('displaced'), AT + ms)
    expect(text).toBe('Just now, this account signed in on Chrome on Windows.')
    const sentence = 'Just now, this account signed in on <bdi>Chrome on Windows</bdi>.'
    expect(html).toContain(`<time datetime="2026-11-21T23:04:00Z" title="21 Nov 2026, 23:04 UTC">${sentence}</time>`)
    expect(word(ended('displaced', null), AT + ms).text).toBe('Just now, this account signed in somewhere else.')
    expect(word(ended('admin'), AT + ms).text).toBe('An administrator did that 1 minute ago.')
  })

  it('speaks the language of its reader, whatever parts their sentence has', () => {
    const german = texts({ lang: 'de', notice_displaced: 'Um {time}, {ago}, auf {device}.' })
    const { text, html } = wordNotice(ended('displaced'), german, undefined, AT + 9 * MINUTE)
    expect(text).toBe('Um 21.11.2026, 23:04 UTC, vor 9 Minuten, auf Chrome on Windows.')
    expect(html).toContain('<time datetime="2026-11-21T23:04:00Z">21.11.2026, 23:04 UTC</time>')
  })

  it('falls back to English times for a language that is none', () => {
    const odd = texts({ lang: 'not a language' })
    expect(wordNotice(ended('admin'), odd, undefined, AT).text).toBe('An administrator did that 1 minute ago.')
  })

  it('says when an end happened that a newer release has noted', () => {
    expect(word(ended('moved' as EndedKind)).text).toBe('That happened 9 minutes ago.')
  })
})

/** A request whose session cookie has this scope, and a response to it. */
function scoped(cookieScope: CookieScope | undefined, headers: Record<string, string> = {}, encrypted = false) {
  const message = new IncomingMessage(Object.assign(new Socket(), { encrypted }))
  Object.assign(message.headers, headers)
  const response = new ServerResponse(message)
  new TestVisit({ cookieScope }).standFor(message)
  const cookies = () => [response.getHeader('Set-Cookie') ?? []].flat().map(String)
  return { cookie: new NoticeCookie(message), response, cookies }
}

describe('the notice cookie', () => {
  it.each<[string, CookieScope | undefined, Record<string, string>, boolean, string]>([
    [
      'over HTTPS',
      { path: '/', secure: true },
      {},
      false,
      '__Host-sessmgr_notice=x; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax',
    ],
    [
      'over plain HTTP',
      { path: '/', secure: false },
      {},
      false,
      'sessmgr_notice=x; Max-Age=600; Path=/; HttpOnly; SameSite=Lax',
    ],
    [
      'below a path',
      { path: '/blog', secure: true },
      {},
      false,
      'sessmgr_notice=x; Max-Age=600; Path=/blog; HttpOnly; Secure; SameSite=Lax',
    ],
    [
      'of a domain',
      { domain: 'example.test', secure: true },
      {},
      false,
      'sessmgr_notice=x; Max-Age=600; Domain=example.test; Path=/; HttpOnly; Secure; SameSite=Lax',
    ],
    ['on a connection that is encrypted', undefined, {}, true, '__Host-sessmgr_notice=x'],
    ['behind a proxy that is', undefined, { 'x-forwarded-proto': 'https, http' }, false, '__Host-sessmgr_notice=x'],
    ['behind a proxy that is not', undefined, { 'x-forwarded-proto': 'http, https' }, false, 'sessmgr_notice=x'],
    ['where nothing is known', undefined, {}, false, 'sessmgr_notice=x; Max-Age=600; Path=/; HttpOnly; SameSite=Lax'],
  ])('applies where the session cookie does: %s', (_, scope, headers, encrypted, expected) => {
    const { cookie, response, cookies } = scoped(scope, headers, encrypted)
    response.setHeader('Set-Cookie', 'other=1')
    cookie.set(response, 'x')
    expect(cookies()).toEqual(['other=1', expect.any(String)])
    expect(cookies()[1]?.slice(0, expected.length)).toBe(expected)
  })

  it('is read under its own name only, so that no subdomain plants one', () => {
    const secure = { path: '/', secure: true }
    const planted = scoped(secure, { cookie: 'sessmgr_notice=planted' })
    expect(planted.cookie.sent).toBeUndefined()
    planted.cookie.clear(planted.response)
    expect(planted.cookies()).toEqual([expect.stringMatching(/^sessmgr_notice=; .*Expires=Thu, 01 Jan 1970/)])
    expect(scoped(secure, { cookie: 'a=1; __Host-sessmgr_notice=own' }).cookie.sent).toBe('own')
  })

  it('is not cleared where none was sent, nor where the response has set the next one', () => {
    const none = scoped({ path: '/' })
    none.cookie.clear(none.response)
    expect(none.cookies()).toEqual([])
    const next = scoped({ path: '/' }, { cookie: 'sessmgr_notice=old' })
    next.cookie.set(next.response, 'new')
    next.cookie.clear(next.response)
    expect(next.cookies()).toEqual([expect.stringMatching(/^sessmgr_notice=new; /)])
  })
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
