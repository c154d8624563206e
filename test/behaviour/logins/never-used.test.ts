import { request } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fetchCalls } from '../../../src/fetch.ts'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { useInterleavedStores } from '../../support/interleaved-stores.ts'
import type { InterleavedStore } from '../../support/interleavings.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { TestStore } from '../../support/test-store.ts'

const ALICE = 2
const CHROME = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/146.0.0.0' }
const FIREFOX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0' }
const JUST_OVER_TEN_SECONDS = 11_000
const HOUR = 3_600_000

const stores = useInterleavedStores()
const hosts = { Express: startExpressHost, Fastify: startFastifyHost, Koa: startKoaHost }

/** Starts an application on a store of its own, and records the ends that its hooks tell. */
async function start(settings: object, startHost = startExpressHost as (typeof hosts)[keyof typeof hosts], more = {}) {
  const clock = fakeClock(1_700_000_000_000)
  const host = await startHost({ sessmgr: { store: memoryStore({ clock }), settings, ...more } })
  const kinds: string[] = []
  const actions: string[] = []
  host.limiter.hooks.addAction('sessmgr_session_ended', 'test', (_record, { kind }) => void kinds.push(kind))
  for (const name of ['sessmgr_destroy_session', 'sessmgr_destroy_oldest_session'] as const) {
    host.limiter.hooks.addAction(name, 'test', () => void actions.push(name))
  }
  const count = () => host.limiter.sessions.count(ALICE)
  /** Signs in with a browser that has no cookie, and returns the browser. */
  const login = async (headers: Record<string, string> = CHROME) => {
    const browser = host.browser()
    return { browser, ...(await browser.login('alice', headers)) }
  }
  return { clock, host, kinds, actions, count, login }
}

describe('rule 72: a session whose cookie nobody has', () => {
  test.each(Object.entries(hosts))(
    'on %s, makes room for the same browser after ten seconds, and stays from its first use on',
    async (_, startHost) => {
      const { clock, kinds, actions, count, login } = await start({ maximum: 1, logic: 'block' }, startHost)
      expect((await login()).status).toBe(200)
      expect((await login()).status).toBe(403)
      clock.advance(JUST_OVER_TEN_SECONDS)
      const { browser, status } = await login()
      expect([status, await browser.me(), await count(), kinds, actions]).toEqual([
        200,
        200,
        1,
        ['never_used'],
        ['sessmgr_destroy_session'],
      ])
      clock.advance(JUST_OVER_TEN_SECONDS)
      expect((await login()).status).toBe(403)
      expect([await browser.me(), await count()]).toEqual([200, 1])
    },
  )

  test('lives as long as any other, and its browser may come back after an hour', async () => {
    const { clock, count, login } = await start({ maximum: 1, logic: 'block' })
    const { browser } = await login()
    clock.advance(HOUR)
    expect([await browser.me(), await count()]).toEqual([200, 1])
  })

  test('is not given up when the browser hangs up before the answer', async () => {
    const { clock, host, count, login } = await start({ maximum: 1, logic: 'block' })
    const body = 'username=alice&password=secret'
    const headers = { ...CHROME, 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }
    const cut = request(`${host.origin}/login?gate=answer`, { method: 'POST', agent: false, headers })
    cut.on('error', () => {})
    cut.end(body)
    await host.gates.at('answer').arrived
    await new Promise((resolve) => cut.on('close', resolve).destroy())
    host.gates.at('answer').open()
    expect((await login()).status).toBe(403)
    clock.advance(JUST_OVER_TEN_SECONDS)
    expect([(await login()).status, await count(), host.errors.length]).toEqual([200, 1, 1])
  })
})

describe('rule 72: a session that nobody has', () => {
  test.each([
    ['logout_oldest', 'sessmgr_destroy_oldest_session'],
    ['logout_idlest', 'sessmgr_destroy_session'],
  ])('ends before any other device of the user, at once, in mode %s', async (logic, action) => {
    const { clock, kinds, actions, count, login } = await start({ maximum: 2, logic })
    const other = await login(FIREFOX)
    expect(await other.browser.me()).toBe(200)
    clock.advance(1000)
    await login()
    const { browser } = await login()
    const states = [await other.browser.me(), await browser.me(), await count()]
    expect([states, kinds, actions]).toEqual([[200, 200, 2], ['never_used'], [action]])
  })

  test('is over for the request that comes with it while another login ends it', async () => {
    const store = memoryStore()
    const { kinds, login } = await start({ maximum: 1, logic: 'logout_oldest' }, startExpressHost, { store })
    const { browser } = await login()
    const { takeUp } = store.sessions
    let second: Awaited<ReturnType<typeof login>> | undefined
    store.sessions.takeUp = async (...given) => {
      store.sessions.takeUp = takeUp
      second = await login()
      return takeUp.apply(store.sessions, given)
    }
    expect([await browser.me(), await second?.browser.me(), kinds]).toEqual([401, 200, ['never_used']])
  })

  test('makes the user choose nothing, in ask mode', async () => {
    const { clock, kinds, login } = await start({ maximum: 1, logic: 'ask' })
    await login()
    clock.advance(JUST_OVER_TEN_SECONDS)
    expect([(await login()).status, kinds]).toEqual([200, ['never_used']])
  })

  test('ends like any other in mode allow', async () => {
    const { kinds, login } = await start({ maximum: 1, logic: 'allow' })
    await login()
    expect([(await login()).status, kinds]).toEqual([200, ['displaced']])
  })

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a program, which is never the same browser', { 'user-agent': 'curl/8.5.0' }, { 'user-agent': 'curl/8.5.0' }],
    ['a client without a user agent', { 'user-agent': '' }, { 'user-agent': '' }],
    ['another browser', CHROME, FIREFOX],
  ])('stays for the login of %s', async (_what, first, second) => {
    const { clock, login } = await start({ maximum: 1, logic: 'block' })
    await login(first)
    clock.advance(JUST_OVER_TEN_SECONDS)
    expect((await login(second)).status).toBe(403)
  })

  test('rule 10: stays where the application has declared the limit reached', async () => {
    const { clock, host, login } = await start({ maximum: 5, logic: 'block' })
    await login()
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => true)
    clock.advance(JUST_OVER_TEN_SECONDS)
    expect((await login()).status).toBe(403)
  })

  test('makes room for a browser that never had a device cookie; one that has its cookie replaces its own', async () => {
    const { clock, kinds, login } = await start({ maximum: 1, logic: 'block' }, startExpressHost, { device: true })
    await login()
    expect((await login()).status).toBe(403)
    clock.advance(JUST_OVER_TEN_SECONDS)
    const { browser, status } = await login()
    browser.cookies.delete('connect.sid')
    expect([status, (await browser.login('alice', CHROME)).status, kinds]).toEqual([
      200,
      200,
      ['never_used', 'replaced'],
    ])
  })

  test('lets five double clicks of one browser in, and the last of each time stays signed in', async () => {
    const { clock, count, login } = await start({ maximum: 2, logic: 'logout_oldest' })
    const other = await login(FIREFOX)
    expect(await other.browser.me()).toBe(200)
    let last: Browser | undefined
    for (let click = 0; click < 5; click++) {
      const both = await Promise.all([login(), login()])
      expect(both.map(({ status }) => status)).toEqual([200, 200])
      clock.advance(60_000)
      last = (await login()).browser
    }
    expect([await other.browser.me(), await last?.me(), await count()]).toEqual([200, 200, 2])
  })

  test('is known over Redis to every process', async () => {
    const store = stores.Redis?.() as InterleavedStore
    const settings = { maximum: 1, logic: 'block' }
    const sessions = new TestStore()
    const [one, other, third] = await Promise.all(
      [0, 1, 2].map((process) =>
        startExpressHost({ store: sessions.twin(), sessmgr: { store: store.open(process), settings } }),
      ),
    )
    const login = async (name: string, host = one) => {
      const browser = host?.browser() as Browser
      return { browser, ...(await browser.login(name, CHROME)) }
    }
    const alice = await login('alice')
    expect((await login('bob')).status).toBe(200)
    expect(await alice.browser.copy(other?.origin).me()).toBe(200)
    await store.pass(JUST_OVER_TEN_SECONDS)
    expect((await login('alice', third)).status).toBe(403)
    expect((await login('bob', third)).status).toBe(200)
  })
})

test('rule 72: over fetch, a session that nobody has makes room, unless a request has come with it', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const limiter = sessmgr({ store: memoryStore({ clock }), settings: { maximum: 1, logic: 'block' } })
  onTestFinished(() => limiter.close())
  const sessions = new Set<string>()
  const calls = fetchCalls(limiter, {
    exists: (id) => sessions.has(id),
    destroy: (id) => sessions.delete(id),
    ip: () => '192.0.2.1',
  })
  const ask = () => new Request('https://example.com/', { headers: CHROME })
  const login = async (sessionId: string) => {
    const create = vi.fn(async () => {
      sessions.add(sessionId)
      return { sessionId, ttlMs: HOUR }
    })
    return (await calls.login(ask(), { userId: 'ada' }, create)).admitted
  }
  expect([await login('one'), await login('two')]).toEqual([true, false])
  clock.advance(JUST_OVER_TEN_SECONDS)
  expect(await login('three')).toBe(true)
  expect((await calls.check(ask(), { userId: 'ada', sessionId: 'three' })).session).toBeDefined()
  clock.advance(JUST_OVER_TEN_SECONDS)
  expect(await login('four')).toBe(false)
})
