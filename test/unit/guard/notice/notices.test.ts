import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { EndedState, HostRequest } from '../../../../src/guard/host-types.ts'
import { Notices } from '../../../../src/guard/notice/notices.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'
import { TestVisit } from '../../../support/test-visit.ts'

const DISPLACED: EndedState = { reason: 'missing', cause: { kind: 'displaced', at: 1, device: 'Chrome on Windows' } }
const SECRET = 'a'.repeat(32)

function notices(all = async (): Promise<readonly string[]> => [SECRET]) {
  return new Notices({ siteSecrets: { all }, textsFor: createTextsFor({}, console), securityUrl: undefined })
}

/** A request for a page, and the response to it. */
function exchange(cookie?: string, ended?: EndedState) {
  const request = new IncomingMessage(new Socket())
  request.httpVersion = '1.1'
  request.headers = { accept: 'text/html', ...(cookie !== undefined && { cookie }) }
  new TestVisit(Object.assign(request as HostRequest, { sessmgr: ended ? { ended } : {} })).standFor(request)
  return { request, response: new ServerResponse(request) }
}

/** What a browser sends back of a notice. */
async function cookieOf(it: Notices, ended: EndedState): Promise<string | undefined> {
  const { request, response } = exchange(undefined, ended)
  const keep = await it.keep(request, ended, response)
  keep()
  return response.getHeader('Set-Cookie')?.toString().split(';')[0]
}

describe('a notice', () => {
  it('comes back from the cookie, with any secret of the site', async () => {
    const secrets = [SECRET]
    const site = notices(async () => secrets)
    const cookie = await cookieOf(site, DISPLACED)
    secrets.unshift('b'.repeat(32))
    const { request, response } = exchange(cookie)
    expect(await site.members.notice(request, response)).toMatchObject(DISPLACED)
    secrets.pop()
    const later = exchange(cookie)
    expect(await site.members.notice(later.request, later.response)).toBeUndefined()
  })

  it('stays below 1 KiB, whatever the application notes', async () => {
    for (const letter of ['a', 'é', '漢', '😀', '\u0000', '"']) {
      const note = letter.repeat(200 / letter.length)
      const cookie =
        (await cookieOf(notices(), { reason: 'missing', cause: { kind: 'app', at: 1, device: null, note } })) ?? ''
      expect(cookie.length).toBeLessThan(1000)
      const { request, response } = exchange(cookie)
      const { cause } = (await notices().members.notice(request, response)) ?? {}
      expect(cause?.note).toMatch(/^.{50}/su)
      expect(note.startsWith(cause?.note ?? '?')).toBe(true)
      expect(Buffer.from(cause?.note ?? '').toString(), 'no letter is cut in half').toBe(cause?.note)
    }
  })

  it("is the request's own before that of the cookie, unless nothing is known of its end", async () => {
    const site = notices()
    const cookie = await cookieOf(site, DISPLACED)
    const own: EndedState = { reason: 'ended', cause: { kind: 'admin', at: 2, device: null } }
    const certain = exchange(cookie, own)
    expect(await site.members.notice(certain.request, certain.response)).toMatchObject(own)
    const unknown = exchange(cookie, { reason: 'missing' })
    expect(await site.members.notice(unknown.request, unknown.response)).toMatchObject(DISPLACED)
    const without = exchange(undefined, { reason: 'missing' })
    expect(await site.members.notice(without.request, without.response)).toMatchObject({
      title: 'Please sign in again.',
    })
  })

  it('costs neither the request nor its cookie anything while the secrets cannot be read', async () => {
    const cookie = await cookieOf(notices(), DISPLACED)
    const down = notices(async () => {
      throw new Error('down')
    })
    expect(await cookieOf(down, DISPLACED)).toBeUndefined()
    const { request, response } = exchange(cookie)
    expect(await down.forScript(request, response)).toBeUndefined()
    expect(response.getHeader('Set-Cookie')).toBeUndefined()
    expect(await down.members.notice(request, response)).toBeUndefined()
    response.writeHead(200)
    expect(response.getHeader('Set-Cookie')).toBeUndefined()
  })

  it('is kept of no end of which nothing is known', async () => {
    expect(await cookieOf(notices(), { reason: 'missing' })).toBeUndefined()
    expect(await cookieOf(notices(), { reason: 'ended' })).toBeUndefined()
  })

  it.each([
    [200, 'text/html; charset=utf-8', 'GET', true],
    [401, 'text/html', 'POST', true],
    [200, 'application/xhtml+xml', 'GET', true],
    [200, undefined, 'GET', true],
    [200, 'application/json', 'GET', false],
    [200, 'text/html', 'HEAD', false],
    [204, undefined, 'POST', false],
    [304, 'text/html', 'GET', false],
    [303, 'text/html', 'POST', false],
  ])('is used up by an answer %d of type %s to %s: %s', async (status, type, method, isUsed) => {
    const site = notices()
    const { request, response } = exchange(await cookieOf(site, DISPLACED))
    request.method = method
    await site.members.notice(request, response)
    response.statusCode = status
    if (type) response.setHeader('Content-Type', type)
    response.writeHead(status)
    expect(response.getHeader('Set-Cookie') !== undefined).toBe(isUsed)
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
