import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { EndedState } from '../../../../src/door/host-types.ts'
import { Notices } from '../../../../src/door/notice/notices.ts'
import { clearNotice } from '../../../../src/door/notice/tell-notice.ts'
import type { EndedCause } from '../../../../src/index.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'
import { TestVisit } from '../../../support/test-visit.ts'

const TOKEN = tokenOf('a')
const OTHER = tokenOf('b')
const CAUSE: EndedCause = { kind: 'displaced', at: 1, device: 'Chrome on Windows' }
const DISPLACED: EndedState = { reason: 'missing', cause: CAUSE }
const NOW = 1_700_000_000_000
const SECONDS = NOW / 1000
const TEN_MINUTES = 600_000

const SCRIPT = { accept: 'application/json' }
const IMAGE = { accept: 'image/png' }

interface Exchange {
  /** Whether the request brings the id of the ended session. */
  readonly isDead?: boolean
  readonly ended?: EndedState
  readonly headers?: Record<string, string>
  readonly cookie?: string | undefined
  readonly method?: string
}

/** A site that knows why some sessions ended, and a browser's exchanges with it. */
function createSite(causes: Record<string, EndedCause> = { [TOKEN]: CAUSE }) {
  const causeOf = vi.fn(async (token: string) => causes[token])
  const textsFor = createTextsFor({}, console)
  const notices = new Notices({ limiter: { causeOf }, endedMemoryMs: 3_600_000, textsFor, securityUrl: undefined })
  const find = vi.fn(async () => DISPLACED)

  async function exchange(given: Exchange = {}) {
    const { isDead = true, ended = DISPLACED, headers = { accept: 'text/html' }, cookie, method = 'GET' } = given
    const request = Object.assign(new IncomingMessage(new Socket()), { httpVersion: '1.1', method })
    request.headers = { ...headers, ...(cookie !== undefined && { cookie: `sessmgr_notice=${cookie}` }) }
    const visit = Object.assign(new TestVisit({ sessmgr: {} }), { raw: request })
    visit.standFor(request)
    const response = new ServerResponse(request)
    if (isDead) {
      if (ended !== DISPLACED) find.mockResolvedValueOnce(ended)
      visit.sessmgr = { ended: await notices.keep(request, TOKEN, find, response) }
    }
    const ask = async () => {
      const { reason, cause } = (await notices.members.notice(request, response)) ?? {}
      return reason && { reason, ...(cause && { cause }) }
    }
    /** Sends the headers, and returns the cookies among them. */
    const send = (status = 200, more: Record<string, string> = { 'content-type': 'text/html' }) => {
      for (const [name, value] of Object.entries(more)) response.setHeader(name, value)
      response.writeHead(status)
      return [response.getHeader('Set-Cookie') ?? []].flat().map(String)
    }
    return { request, response, visit, ask, send }
  }

  return { notices, causeOf, find, exchange }
}

const unshown = `sessmgr_notice=${TOKEN}; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax`
const shownAt = (seconds: number) =>
  `sessmgr_notice=${TOKEN}.${seconds}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax`

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
})

describe('decision 71: the first answer to a request with a dead session', () => {
  it.each([
    ['a page that does not ask for the notice', {}, 200, {}],
    ['an image', { headers: IMAGE }, 200, { 'content-type': 'image/png' }],
    ['data for a script', { headers: SCRIPT }, 401, { 'content-type': 'application/json' }],
    ['a redirect', {}, 302, { location: '/login' }],
    ['an error', {}, 500, {}],
    ['a form that was posted', { method: 'POST' }, 303, { location: '/' }],
  ])('carries the token, as long as a reason is kept: %s', async (_, given, status, headers) => {
    const { send } = await createSite().exchange(given)
    expect(send(status, headers as Record<string, string>)).toEqual([unshown])
  })

  it.each([{ 'cache-control': 'public, max-age=60' }, { 'cache-control': 's-maxage=60' }])(
    'carries no cookie if caches may share it, and the next one does: %j',
    async (headers) => {
      const { exchange } = createSite()
      const shared = await exchange()
      expect(await shared.ask()).toEqual(DISPLACED)
      expect(shared.send(200, headers)).toEqual([])
      expect((await exchange()).send()).toEqual([unshown])
    },
  )

  it('is private with the cookie', async () => {
    const { send, response } = await createSite().exchange()
    send()
    expect(response.getHeader('Cache-Control')).toBe('private')
  })

  it('carries the time if it shows the notice itself, even where nothing is known', async () => {
    const { exchange } = createSite()
    for (const ended of [DISPLACED, { reason: 'missing' }, { reason: 'ended' }] as const) {
      const page = await exchange({ ended })
      expect(await page.ask()).toEqual(ended)
      expect(page.send()).toEqual([shownAt(SECONDS)])
    }
  })

  it('carries nothing once the request has signed in', async () => {
    const { visit, send } = await createSite().exchange()
    visit.sessmgr = { session: { userId: 7, token: OTHER } }
    expect(send()).toEqual([])
  })

  it('asks whoever passes it on whether the request has signed in', async () => {
    const { notices, find, exchange } = createSite()
    for (const isSignedIn of [true, false]) {
      const { request, response, send } = await exchange({ isDead: false })
      await notices.keep(request, TOKEN, find, response, () => isSignedIn)
      expect(send()).toEqual(isSignedIn ? [] : [unshown])
    }
  })
})

describe('decision 71: a notice that no page has shown yet', () => {
  it.each([
    ['with the dead session', true],
    ['without it', false],
  ])('is shown by the next page, which carries the time: %s', async (_, isDead) => {
    const { exchange } = createSite()
    const { ask, send } = await exchange({ isDead, cookie: TOKEN })
    expect(await ask()).toEqual(DISPLACED)
    expect(send()).toEqual([shownAt(SECONDS)])
  })

  it.each([true, false])(
    'is not sent again by an answer that does not show it, with the dead session: %s',
    async (isDead) => {
      const { exchange } = createSite()
      expect((await exchange({ isDead, cookie: TOKEN })).send()).toEqual([])
      const image = await exchange({ isDead, cookie: TOKEN, headers: IMAGE })
      expect([await image.ask(), image.send()]).toEqual([undefined, []])
    },
  )

  it.each([
    [200, { 'content-type': 'text/html; charset=utf-8' }, 'GET', true],
    [200, { 'content-type': 'application/xhtml+xml' }, 'GET', true],
    [200, {}, 'GET', true],
    [401, { 'content-type': 'text/html' }, 'POST', true],
    [403, {}, 'GET', true],
    [200, { 'content-type': 'application/json' }, 'GET', false],
    [200, { 'content-type': 'text/html', 'content-disposition': 'attachment; filename="a.html"' }, 'GET', false],
    [200, { refresh: '0;url=/other' }, 'GET', false],
    [200, {}, 'HEAD', false],
    [204, {}, 'POST', false],
    [302, { location: '/login' }, 'GET', false],
    [303, { location: '/login' }, 'POST', false],
    [304, {}, 'GET', false],
    [404, {}, 'GET', false],
    [500, {}, 'GET', false],
    [200, { 'cache-control': 'public' }, 'GET', false],
  ])('counts as shown by an answer %d with %j to %s: %s', async (status, headers, method, isShown) => {
    const { exchange } = createSite()
    for (const isDead of [true, false]) {
      const { ask, send } = await exchange({ isDead, cookie: TOKEN, method })
      expect(await ask()).toEqual(DISPLACED)
      expect(send(status, headers as Record<string, string>)).toEqual(isShown ? [shownAt(SECONDS)] : [])
    }
  })

  it.each([true, false])('counts as shown once a script has it, with the dead session: %s', async (isDead) => {
    const { notices, exchange } = createSite()
    const { request, response, send } = await exchange({ isDead, cookie: TOKEN, headers: SCRIPT })
    expect(await notices.forScript(request, response)).toMatchObject(DISPLACED)
    // What answers a script may copy the headers before they are sent.
    if (!isDead) expect(response.getHeader('Set-Cookie')).toEqual([shownAt(SECONDS)])
    expect(send(200, { 'content-type': 'application/json' })).toEqual([shownAt(SECONDS)])
  })

  it('is told no more once the headers are sent, because the next page shows it', async () => {
    const { ask, send } = await createSite().exchange({ cookie: TOKEN })
    expect([send(), await ask()]).toEqual([[], undefined])
  })
})

describe('decision 71: a notice that a page has shown', () => {
  it.each([true, false])(
    'is repeated for ten minutes, and its time stays, with the dead session: %s',
    async (isDead) => {
      const { notices, exchange } = createSite()
      vi.setSystemTime(NOW + TEN_MINUTES - 1)
      const cookie = `${TOKEN}.${SECONDS}`
      for (const _ of [1, 2]) {
        const { ask, send } = await exchange({ isDead, cookie })
        expect([await ask(), send()]).toEqual([DISPLACED, []])
      }
      const { request, response, send } = await exchange({ isDead, cookie, headers: SCRIPT })
      expect(await notices.forScript(request, response)).toMatchObject(DISPLACED)
      expect(send()).toEqual([])
    },
  )

  it.each([0, 1, 29 * 24 * 60 * 60_000])('is neither looked up nor shown %d ms after these ten minutes', async (ms) => {
    const { notices, find, causeOf, exchange } = createSite()
    vi.setSystemTime(NOW + TEN_MINUTES + ms)
    const cookie = `${TOKEN}.${SECONDS}`
    for (const isDead of [true, false]) {
      const page = await exchange({ isDead, cookie })
      expect(page.visit.sessmgr).toEqual(isDead ? { ended: { reason: 'missing' } } : {})
      expect([await page.ask(), page.send()]).toEqual([undefined, []])
      const { request, response, send } = await exchange({ isDead, cookie, headers: SCRIPT })
      expect([await notices.forScript(request, response), send()]).toEqual([undefined, []])
    }
    expect([find.mock.calls, causeOf.mock.calls]).toEqual([[], []])
  })

  it('gives way to that of a session which has ended since, whatever became of it', async () => {
    const { find, exchange } = createSite()
    vi.setSystemTime(NOW + TEN_MINUTES)
    for (const cookie of [OTHER, `${OTHER}.${SECONDS}`]) {
      expect((await exchange({ cookie })).send()).toEqual([unshown])
      const page = await exchange({ cookie })
      expect([await page.ask(), page.send()]).toEqual([DISPLACED, [shownAt(SECONDS + 600)]])
    }
    expect(find).toHaveBeenCalledTimes(4)
  })
})

describe('a request that reads the notice', () => {
  it.each<EndedState>([
    { reason: 'ended' },
    { reason: 'logout_all' },
    { reason: 'missing', cause: { kind: 'admin', at: 2, device: null } },
  ])('is told of its own end before an older one: %j', async (ended) => {
    const { exchange, causeOf } = createSite({ [OTHER]: CAUSE })
    const { ask } = await exchange({ ended, cookie: OTHER })
    expect(await ask()).toEqual(ended)
    expect(causeOf).not.toHaveBeenCalled()
  })

  it('is told of an older end if nothing is known of its own', async () => {
    const { exchange } = createSite({ [OTHER]: CAUSE })
    const { ask } = await exchange({ ended: { reason: 'missing' }, cookie: OTHER })
    expect(await ask()).toEqual(DISPLACED)
  })

  it('gets none with a live session, and loses the cookie', async () => {
    for (const cookie of [TOKEN, `${TOKEN}.${SECONDS}`, 'malformed']) {
      const { visit, ask, send } = await createSite().exchange({ isDead: false, cookie })
      visit.sessmgr = { session: { userId: 7, token: OTHER } }
      expect(await ask()).toBeUndefined()
      expect(send()).toEqual([expect.stringMatching(/^sessmgr_notice=; .*Expires=Thu, 01 Jan 1970/)])
    }
  })

  it.each([
    '',
    'forged',
    TOKEN.slice(1),
    `${TOKEN}0`,
    TOKEN.toUpperCase(),
    `x${TOKEN}`,
    `${TOKEN}.`,
    `${TOKEN}.-1`,
    `${TOKEN}.1e9`,
    `${TOKEN}.${'9'.repeat(13)}`,
    `${TOKEN}.1.2`,
    `${TOKEN}.${SECONDS}%0A`,
  ])('ignores a cookie that is malformed: %j', async (cookie) => {
    const { causeOf, exchange } = createSite()
    const visitor = await exchange({ isDead: false, cookie })
    expect([await visitor.ask(), visitor.send()]).toEqual([undefined, []])
    expect(causeOf).not.toHaveBeenCalled()
    const page = await exchange({ cookie })
    expect([await page.ask(), page.send()]).toEqual([DISPLACED, [shownAt(SECONDS)]])
  })
})

describe('decision 71: a login', () => {
  it.each([TOKEN, `${TOKEN}.${SECONDS}`, 'malformed'])(
    'clears the notice cookie of its browser: %s',
    async (cookie) => {
      const { response, visit, send } = await createSite().exchange({ isDead: false, cookie })
      clearNotice(visit, response)
      expect(send()).toEqual([expect.stringMatching(/^sessmgr_notice=; Path=\/; Expires=Thu, 01 Jan 1970/)])
    },
  )

  it('clears it in an answer to the dead session, too, which sets no other one', async () => {
    const { response, visit, send } = await createSite().exchange({ cookie: TOKEN })
    visit.sessmgr = { session: { userId: 7, token: OTHER } }
    clearNotice(visit, response)
    expect(send()).toEqual([expect.stringMatching(/^sessmgr_notice=; /)])
  })
})
