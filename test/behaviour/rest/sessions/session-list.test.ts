import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import { registerSession } from '../../../support/register-session.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { send } from '../../../support/send.ts'
import { AGENTS } from '../../../support/user-agents.ts'

const asked: string[] = []
let place: () => unknown = () => undefined
const location = (ip: string) => {
  if (ip === '127.0.0.1') return undefined
  asked.push(ip)
  return place() as string
}
const host = forThisFile(() => startRestHost({ host: { location } }))
const headers = forThisFile(() => host.scriptOf('admin'))
const get = (path: string, as: object = headers) => host.call('GET', `/sessmgr/v1/${path}`, { headers: { ...as } })
const list = async (query = 'user=alice', as: object = headers) => (await get(`sessions?${query}`, as)).json
const tokensOf = ({ sessions }: { sessions: { token: string }[] }) => sessions.map(({ token }) => token)
const register = (ip: string | null, device: string | null = null) => registerSession(host, 2, { ip, device })
beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
})

/** While a filter of the limit answers this. */
async function whileFiltered<T>(
  name: 'sessmgr_maximum' | 'sessmgr_bypass',
  filter: () => never,
  work: () => Promise<T>,
) {
  host.limiter.hooks.addFilter(name, 'test', filter)
  return work().finally(() => host.limiter.hooks.removeFilter(name, 'test'))
}

describe('GET /sessions', () => {
  it('tells of each live session its token, times in Unix seconds, address and device, oldest first, and no raw id', async () => {
    const from = Math.floor(Date.now() / 1000)
    const [one, two] = [await host.signIn('alice', 'Laptop/1'), await host.signIn('alice', AGENTS.iphone)]
    const before = await host.snapshot()
    const { text, json } = await get('sessions?user=alice')
    expect(text).not.toContain(one.sessionId)
    expect(await host.snapshot()).toEqual(before)
    // every-route.test.ts holds the answer to its schema.
    expect(json).toMatchObject({
      user: { id: 2, login: 'alice', display_name: 'ALICE' },
      sessions: [
        { token: one.token, user_agent: 'Laptop/1', device: { name: 'Laptop 1', kind: 'program' }, current: false },
        { token: two.token, user_agent: AGENTS.iphone, device: { name: 'Safari 17 on iPhone', kind: 'phone' } },
      ],
      limit: { maximum: 5, logic: 'allow', over: false },
    })
    expect(json.sessions[0]).toMatchObject({ ip: '127.0.0.1', place: null, same_browser: null })
    for (const { created, last_seen, expires } of json.sessions) {
      for (const time of [created, last_seen, expires]) expect(Number.isInteger(time)).toBe(true)
      expect(created >= from && last_seen >= created).toBe(true)
      expect(Math.abs(expires - created - 14 * 24 * 60 * 60)).toBeLessThanOrEqual(5)
    }
  })

  it('comes in pages where a limit is given, says where the next begins, and refuses a page that is none', async () => {
    const all: string[] = []
    for (let count = 0; count < 5; count++) all.push((await register(null)).token)
    const pageOf = async (query: string) => {
      const json = await list(`user=alice${query}`)
      return { tokens: tokensOf(json), next: json.next_after }
    }
    const first = await pageOf('&limit=2')
    expect(first).toEqual({ tokens: all.slice(0, 2), next: expect.any(Number) })
    expect(await pageOf(`&limit=3&after=${first.next}`)).toEqual({ tokens: all.slice(2), next: undefined })
    expect(await pageOf('')).toEqual({ tokens: all, next: undefined })
    for (const query of ['limit=0', 'limit=1001', 'limit=1.5', 'limit=', 'limit=1&limit=2', 'after=x', 'after=-1']) {
      const { code, data } = await list(`user=alice&${query}`)
      expect([code, Object.keys(data?.params ?? {})], query).toEqual(['rest_invalid_param', [query.split('=')[0]]])
    }
  })

  it("marks the caller's own session, and no other", async () => {
    const [other, own] = [await host.signIn('admin'), await host.signIn('admin')]
    await host.signIn('alice')
    const current = async (query: string, as?: object) =>
      (await list(query, as)).sessions.map((row: { token: string; current: boolean }) => row.current && row.token)
    expect(await current('user=admin', own.headers)).toEqual([false, own.token])
    expect(await current('user=alice', own.headers)).toEqual([false])
    expect(await current('user=admin')).toEqual([false, false])
    expect(await host.isSignedIn(other)).toBe(true)
  })

  it('names the next older session of the same browser', async () => {
    const devices = ['A', null, 'B', 'A', 'A'].map((device) => device?.repeat(16) ?? null)
    const tokens: string[] = []
    for (const device of devices) tokens.push((await register(null, device)).token)
    const { sessions } = await list()
    const expected = [null, null, null, tokens[0], tokens[3]]
    expect(sessions.map((row: { same_browser: unknown }) => row.same_browser)).toEqual(expected)
  })

  it('says the own maximum of the user and whether they are over it, null for the exempt, also while a filter fails', async () => {
    for (let count = 0; count < 3; count++) await register(null)
    const limits = (...queries: string[]) =>
      Promise.all(queries.map(async (query) => (await list(`user=alice${query}`)).limit))
    const two = () => limits('', '&limit=1', '&limit=1&after=1', '&after=2')
    const over = { maximum: 2, logic: 'allow', over: true }
    expect(await whileFiltered('sessmgr_maximum', () => 2 as never, two)).toEqual([over, over, over, over])
    const three = () => limits('', '&limit=1', '&after=2')
    const within = { maximum: 3, logic: 'allow', over: false }
    expect(await whileFiltered('sessmgr_maximum', () => 3 as never, three)).toEqual([within, within, within])
    const exempt = await whileFiltered('sessmgr_bypass', () => true as never, list)
    expect(exempt.limit).toEqual({ maximum: null, logic: 'allow', over: false })
    const failing = () => {
      throw new Error('no database')
    }
    expect(await whileFiltered('sessmgr_maximum', failing, list)).toMatchObject({ limit: null, sessions: [{}, {}, {}] })
  })

  it('has places by host.location, which is asked once for an address, and none where that fails', async () => {
    const places = async () => (await list()).sessions.map((row: { place: unknown }) => row.place)
    place = () => 'Berlin, DE'
    for (const ip of ['203.0.113.1', '203.0.113.1', null, '203.0.113.2']) await register(ip)
    for (let times = 0; times < 3; times++) {
      expect(await places()).toEqual(['Berlin, DE', 'Berlin, DE', null, 'Berlin, DE'])
    }
    expect(asked.toSorted()).toEqual(['203.0.113.1', '203.0.113.2'])
    const answers: [answer: () => unknown, expected: string | null][] = [
      [() => '  ', null],
      [() => 'x'.repeat(200), 'x'.repeat(100)],
      [() => 7, null],
      [() => Promise.reject(new Error('no table')), null],
    ]
    for (const [index, [answer, expected]] of answers.entries()) {
      place = answer
      await register(`198.51.100.${index}`)
      expect((await places()).at(-1)).toBe(expected)
    }
    const error = 'expected a string such as "Berlin, DE", got 7'
    expect(host.logs).toEqual([[expect.stringContaining('host.location() failed'), { error }]])
  })

  it('is compressed when it is long, for a client that accepts gzip; the tags of both forms answer 304', async () => {
    for (let count = 0; count < 60; count++) await register(null)
    const read = async (user: string, more: Record<string, string>) => {
      const url = `${host.origin}/api/sessmgr/v1/sessions?user=${user}`
      const answer = await send(url, { headers: { ...headers, ...more } })
      return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
    }
    const [plain, zipped] = [await read('alice', {}), await read('alice', { 'accept-encoding': 'br, gzip;q=0.8' })]
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(zipped.body.length) })
    expect(zipped.body.length).toBeLessThan(plain.body.length / 4)
    expect(gunzipSync(zipped.body)).toEqual(plain.body)
    expect(zipped.headers.etag).toBe(`W/${plain.headers.etag}`)
    for (const { headers } of [plain, zipped]) {
      const again = await read('alice', { 'if-none-match': String(headers.etag), 'accept-encoding': 'gzip' })
      expect([again.status, again.body.length]).toEqual([304, 0])
    }
    const uncompressed = [plain, await read('alice', { 'accept-encoding': 'gzip;q=0' })]
    uncompressed.push(await read('bob', { 'accept-encoding': 'gzip' }))
    for (const { headers } of uncompressed) expect(headers['content-encoding']).toBeUndefined()
  })
})

describe('GET /explain', () => {
  const explain = async (query: string) => (await get(`explain?${query}`)).json

  it('tells how the limit applies to a user, and changes nothing', async () => {
    const { token } = await host.signIn('alice', 'Laptop/1')
    expect(await explain('user=alice')).toMatchObject({
      user: { id: 2, login: 'alice', display_name: 'ALICE' },
      ...{ maximum: 5, from: 'settings', bypassed: false, enforced: true, mode: 'allow', next_login: 'admitted' },
      sessions: [{ token, idle: false, would_end: false }],
    })
    const refused = await explain('user=alice&mode=block&maximum=1&user_agent=Phone')
    expect(refused).toMatchObject({ mode: 'block', maximum: 1, from: 'options', next_login: 'refused' })
    expect(await explain('user=alice&mode=ask&maximum=1')).toMatchObject({ next_login: 'asked', need: 1 })
    const ends = await explain('user=alice&mode=allow&maximum=1')
    expect(ends).toMatchObject({ next_login: 'ends', sessions: [{ would_end: true }] })
    await host.limiter.settings.update({ idle_release: 3600 })
    const waiting = await explain('user=alice&mode=block&maximum=1')
    await host.limiter.settings.reset('idle_release')
    expect([3600, 3601]).toContain(waiting.free_at - waiting.sessions[0].last_seen)
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  it('needs a user that exists, and parameters that are good', async () => {
    expect(await explain('')).toMatchObject({ code: 'missing_identifier', data: { status: 400 } })
    expect(await explain('user=nobody')).toMatchObject({ code: 'user_not_found', data: { status: 404 } })
    for (const query of ['mode=bloc', 'maximum=0', 'maximum=1&maximum=2', 'user_agent=a&user_agent=b']) {
      const { code, data } = await explain(`user=alice&${query}`)
      expect([code, Object.keys(data?.params ?? {})], query).toEqual(['rest_invalid_param', [query.split('=')[0]]])
    }
  })
})
