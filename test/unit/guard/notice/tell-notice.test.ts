import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { EndedState } from '../../../../src/guard/host-types.ts'
import { Notices } from '../../../../src/guard/notice/notices.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'

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
  Object.assign(request, { sessmgr: ended ? { ended } : {} })
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
    Object.assign(request, { sessmgr: { session: { userId: 7, token: 'a'.repeat(64) } } })
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
      message: 'Please sign in again. Your session is over.',
      data: { status: 401, reason: 'missing', kind: null, at: null, device: null, note: null },
    })
  })

  it('is none while the session is live', async () => {
    expect(await notices().members.signedOut(exchange({}).request)).toBeUndefined()
  })
})
