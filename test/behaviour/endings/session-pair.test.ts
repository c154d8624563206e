import { promisify } from 'node:util'
import { Store } from 'express-session'
import { describe, expect, test } from 'vitest'
import { memoryStore, type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { loggedIn } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { useRedis } from '../../support/use-redis.ts'

const redis = useRedis()
const sharedStore = async (): Promise<SessmgrStore> => redisStore({ client: redis.client })

const HOSTS = { Express: startExpressHost, Fastify: startFastifyHost, Koa: startKoaHost }
const settings = { maximum: 3, logic: 'block' }

type WritableStore = { set(id: string, data: object, done: (error?: unknown) => void): unknown }

/** A store that the test can write to itself, of the kind that a host takes. */
function storeOf(start: (typeof HOSTS)[keyof typeof HOSTS], sessions: JsonSessions): WritableStore {
  if (start === startKoaHost) return sessions.forPromises()
  return Object.assign(Reflect.construct(Store, []), sessions.forCallbacks()) as WritableStore
}

describe.each(Object.entries(HOSTS))('on %s', (_, start) => {
  test('rule 75: whoever writes a pair into their own session is nobody, takes no place, and loses that session alone', async () => {
    const host = await start({ sessions: new JsonSessions(), sessmgr: { settings } })
    const alice = await loggedIn(host, 'alice')
    const { sessmgr: own } = host.sessions.read(host.sessionIdOf(alice)) as { sessmgr: { registry: string } }
    for (const guess of [undefined, 'anything', own.registry]) {
      const visitor = host.browser()
      await visitor.post('/cart', { item: 'tea' })
      const id = host.sessionIdOf(visitor) ?? ''
      const sessmgr = { userId: 2, token: tokenOf(id), registry: guess }
      host.sessions.sessions.set(id, JSON.stringify({ ...host.sessions.read(id), sessmgr }))
      expect((await visitor.get('/state')).json()).toMatchObject({ ended: { reason: 'ended' } })
      expect((await visitor.get('/nonce')).text).toBe('')
      expect(host.sessions.read(id)).toBeUndefined()
      expect(await host.limiter.sessions.count(2)).toBe(1)
    }
    // Nor is one that was copied from another session a pair; its visitor stays anonymous.
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })
    const id = host.sessionIdOf(visitor) ?? ''
    host.sessions.sessions.set(id, JSON.stringify({ ...host.sessions.read(id), sessmgr: own }))
    expect((await visitor.get('/state')).json()).toEqual({})
    expect((await visitor.post('/cart', { item: 'more' })).status).toBe(204)
    expect([await alice.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
  })

  test('rule 46: a copy of a session under another id is dropped when that session is over, and else is a login', async () => {
    const sessions = new JsonSessions()
    const store = storeOf(start, sessions)
    const host = await start({ sessions, store, sessmgr: { settings } })
    const browser = await loggedIn(host, 'alice')
    const copy = sessions.read(host.sessionIdOf(browser))
    const write = async (id: string) => {
      if (start === startKoaHost) await store.set(id, { ...copy }, () => {})
      else await promisify((done: (error?: unknown) => void) => void store.set(id, { ...copy }, done))()
    }
    await write('while-it-is-live')
    expect(await host.limiter.sessions.count(2)).toBe(2)
    expect(sessions.ids()).toContain('while-it-is-live')

    await host.limiter.sessions.endAll(2)
    await write('after-its-end')
    expect([sessions.ids(), await host.limiter.sessions.count(2)]).toEqual([[], 0])
  })

  test('a store that is down as the name of its registry is wanted is 503, and signs nobody out', async () => {
    const store = memoryStore()
    const sessions = new JsonSessions()
    const before = await start({ sessions, sessmgr: { settings, store } })
    const browser = before.browser()
    await browser.login('alice')
    let isDown = true
    const get = store.options.get.bind(store.options)
    const down = Object.assign(new Error('down'), { status: 503, statusCode: 503 })
    const flaky = {
      ...store,
      options: { ...store.options, get: async (name: string) => (isDown ? Promise.reject(down) : get(name)) },
    }
    Object.setPrototypeOf(flaky.options, store.options)
    const host = await start({ sessions, sessmgr: { settings, store: flaky } })
    const moved = browser.copy(host.origin)
    expect((await moved.get('/me')).status).toBe(503)
    isDown = false
    expect(await moved.me()).toBe(200)
  })
})

describe('with Express', () => {
  const start = startExpressHost

  test('rule 75: a token in the record of its user is good, whatever registry its pair names; the pair is replaced', async () => {
    const host = await start({ sessions: new JsonSessions(), sessmgr: { settings, sessionUser: () => undefined } })
    const browser = await loggedIn(host, 'alice')
    const id = host.sessionIdOf(browser) ?? ''
    const { sessmgr, ...rest } = host.sessions.read(id) as { sessmgr: object }
    host.sessions.sessions.set(id, JSON.stringify({ ...rest, sessmgr: { ...sessmgr, registry: 'lost' } }))
    expect((await browser.get('/state')).json()).toHaveProperty('session.userId', 2)
    expect(host.sessions.read(id)?.sessmgr).toEqual(sessmgr)
  })

  test('rule 75: another `secret` ends no session, although nothing but the pair tells whose it is', async () => {
    const [sessions, store] = [new JsonSessions(), memoryStore()]
    const process = (secret: string) => start({ sessions, sessmgr: { store, secret, sessionUser: () => undefined } })
    const before = await process('the older secret of an application')
    const browser = before.browser()
    await browser.login('alice')
    const after = await process('the newer secret of an application')
    // The first request of a process is loaded before there is a guard, the second by it.
    await after.browser().get('/state')
    const later = browser.copy(after.origin)
    for (let turn = 0; turn < 2; turn++) expect((await later.get('/state')).json()).toHaveProperty('session.userId', 2)
    await after.limiter.sessions.endAll(2)
    expect((await later.get('/state')).json()).toHaveProperty('ended')
  })

  test('rule 75: a pair of another registry is none where the session names the same user, and else its session has ended', async () => {
    const sessions = new JsonSessions()
    const before = await start({ sessions, sessmgr: { settings, store: memoryStore() } })
    const browser = before.browser()
    await browser.login('alice')
    const host = await start({ sessions, sessmgr: { settings, store: memoryStore() } })
    const moved = browser.copy(host.origin)
    expect((await moved.get('/state')).json()).toHaveProperty('session.userId', 2)
    expect(await host.limiter.sessions.count(2)).toBe(1)

    const id = host.sessionIdOf(browser) ?? ''
    const { passport: _, ...unnamed } = sessions.read(id) ?? {}
    sessions.sessions.set(id, JSON.stringify(unnamed))
    const later = await start({ sessions, sessmgr: { settings, store: memoryStore() } })
    expect((await browser.copy(later.origin).get('/state')).json()).toMatchObject({ ended: { reason: 'ended' } })
    expect(await later.limiter.sessions.count(2)).toBe(0)
  })

  test('rule 38: uninstalling signs nobody out of two running processes, though one learns of it by the other', async () => {
    const store = await sharedStore()
    const sessions = new JsonSessions()
    const process = () => start({ sessions, sessmgr: { settings, store } })
    const [here, there] = [await process(), await process()]
    const browsers = [here.browser(), here.browser()] as const
    for (const browser of browsers) await browser.login('alice')
    expect(await browsers[0].copy(there.origin).me()).toBe(200)
    await here.limiter.uninstall()
    for (const { origin } of [here, there, here, there]) {
      for (const browser of browsers) expect(await browser.copy(origin).me()).toBe(200)
    }
    expect(await here.limiter.sessions.count(2)).toBe(2)
    expect((await here.browser().login('alice')).status).toBe(200)
    expect((await here.browser().login('alice')).status).toBe(403)
    await there.limiter.sessions.endAll(2)
    for (const { origin } of [here, there]) expect(await browsers[0].copy(origin).me()).toBe(401)
  })

  test.each([undefined, 'a secret of the application, long enough'])(
    'rule 38: uninstalling and installing again signs nobody out, with the secret %s',
    async (secret) => {
      const store = memoryStore()
      const sessions = new JsonSessions()
      const options = { settings, store, ...(secret === undefined ? {} : { secret }) }
      const before = await start({ sessions, sessmgr: options })
      const browser = before.browser()
      await browser.login('alice')
      await store.wipe()
      const without = await start({ sessions, unlimited: true })
      expect(await browser.copy(without.origin).me()).toBe(200)
      const after = await start({ sessions, sessmgr: options })
      for (let turn = 0; turn < 3; turn++) expect(await browser.copy(after.origin).me()).toBe(200)
      expect(await after.limiter.sessions.count(2)).toBe(1)
    },
  )
})
