import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import type { EndedState } from '../../../../src/door/host-types.ts'
import { Notices } from '../../../../src/door/notice/notices.ts'
import type { EndedCause } from '../../../../src/index.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'
import { TestVisit } from '../../../support/test-visit.ts'

const TOKEN = tokenOf('a')
const CAUSE: EndedCause = { kind: 'displaced', at: 1, device: 'Chrome on Windows' }
const DISPLACED: EndedState = { reason: 'missing', cause: CAUSE }

function notices(causeOf = async (): Promise<EndedCause | undefined> => CAUSE) {
  const textsFor = createTextsFor({}, console)
  return new Notices({ limiter: { causeOf }, endedMemoryMs: 60_000, textsFor, securityUrl: undefined })
}

/** A request for a page, and the response to it. */
function exchange(cookie?: string, ended?: EndedState) {
  const request = new IncomingMessage(new Socket())
  request.httpVersion = '1.1'
  request.headers = { accept: 'text/html', ...(cookie !== undefined && { cookie }) }
  const visit = new TestVisit({ sessmgr: ended ? { ended } : {} })
  Object.assign(visit, { raw: request }).standFor(request)
  const response = new ServerResponse(request)
  const send = () => response.writeHead(200).getHeader('Set-Cookie')
  return { request, response, send }
}

describe('the end of a session', () => {
  it('is looked up once, told, and kept in a cookie', async () => {
    const { request, response, send } = exchange()
    const find = vi.fn(async () => DISPLACED)
    expect(await notices().keep(request, TOKEN, find, response)).toEqual(DISPLACED)
    expect(find).toHaveBeenCalledTimes(1)
    expect(send()).toEqual([`sessmgr_notice=${TOKEN}; Max-Age=60; Path=/; HttpOnly; SameSite=Lax`])
  })

  it.each([{ reason: 'missing' }, { reason: 'ended' }, { reason: 'logout_all' }] as const)(
    'of which nothing is known is told, and kept nowhere: %j',
    async (ended) => {
      const { request, response, send } = exchange()
      expect(await notices().keep(request, TOKEN, async () => ended, response)).toEqual(ended)
      expect(send()).toBeUndefined()
    },
  )

  it('costs the request nothing if it cannot be looked up, or the code for it cannot be loaded', async () => {
    const { request, response, send } = exchange()
    const fail = async () => {
      throw new Error('down')
    }
    expect(await notices().keep(request, TOKEN, fail, response)).toEqual({ reason: 'missing' })
    const gone = notices()
    vi.spyOn(gone, 'load').mockRejectedValue(new Error('updated in place'))
    expect(await gone.keep(request, TOKEN, async () => DISPLACED, response)).toEqual({ reason: 'missing' })
    expect(send()).toBeUndefined()
  })
})

describe('the notice', () => {
  it('comes back from the cookie, by its token alone', async () => {
    const causeOf = vi.fn(async () => CAUSE)
    const { request, response } = exchange(`sessmgr_notice=${TOKEN}`)
    expect(await notices(causeOf).members.notice(request, response)).toMatchObject(DISPLACED)
    expect(causeOf.mock.calls).toEqual([[TOKEN, 'missing']])
  })

  it('from the cookie tells a site-wide logout by its cause', async () => {
    const cause: EndedCause = { kind: 'logout_all', at: 1, device: null }
    const { request, response } = exchange(`sessmgr_notice=${TOKEN}`)
    expect(await notices(async () => cause).members.notice(request, response)).toMatchObject({
      reason: 'logout_all',
      cause,
      title: 'Everyone was signed out.',
    })
  })

  it('is none where the token of the cookie belongs to no end that is known, and starts no ten minutes', async () => {
    const { request, response, send } = exchange(`sessmgr_notice=${TOKEN}`)
    expect(await notices(async () => undefined).members.notice(request, response)).toBeUndefined()
    expect(send()).toBeUndefined()
  })

  it('loads nothing when there can be none', async () => {
    const site = notices()
    const load = vi.spyOn(site, 'load')
    for (const cookie of [undefined, 'sid=1']) {
      const { request, response } = exchange(cookie)
      expect(await site.members.notice(request, response)).toBeUndefined()
    }
    expect(load).not.toHaveBeenCalled()
  })

  it('needs a request and a response', async () => {
    const { members } = notices()
    const { request } = exchange()
    await expect(members.notice(undefined as never, undefined as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('limiter.notice(request, response)'),
    })
    await expect(members.notice(request, undefined as never)).rejects.toThrow('The response is missing')
    await expect(members.signedOut(undefined as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('limiter.signedOut(request)'),
    })
  })
})

describe('the body of a 401 response', () => {
  it('says why the session is over, as far as that is known', async () => {
    const { members } = notices()
    const ended: EndedState = { reason: 'ended', cause: { kind: 'app', at: 0, device: null, note: 'Bye.' } }
    expect(await members.signedOut(exchange(undefined, ended).request)).toEqual({
      code: 'session_ended',
      message: expect.stringMatching(/^You were signed out on this device\. .* Bye\.$/),
      data: { status: 401, reason: 'ended', kind: 'app', at: '1970-01-01T00:00:00Z', device: null, note: 'Bye.' },
    })
    expect(await members.signedOut(exchange(undefined, { reason: 'missing' }).request)).toEqual({
      code: 'session_ended',
      message: 'Please sign in again. Your session ended.',
      data: { status: 401, reason: 'missing', kind: null, at: null, device: null, note: null },
    })
  })

  it('is none while the session is live', async () => {
    expect(await notices().members.signedOut(exchange().request)).toBeUndefined()
  })
})
