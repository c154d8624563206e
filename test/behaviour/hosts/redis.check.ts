import { RedisStore } from 'connect-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import type { StartHost } from '../../support/host-under-test.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

const LOGINS = 20

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const connectRedisStore = (client: NodeRedis) => new RedisStore({ client })

/** A store for koa-session, as an application writes it. */
const koaRedisStore = (client: NodeRedis) => ({
  async get(key: string) {
    const json = await client.get(`sess:${key}`)
    return json === null ? undefined : JSON.parse(json)
  },
  set: (key: string, data: unknown, maxAge: number) =>
    client.set(`sess:${key}`, JSON.stringify(data), { expiration: { type: 'PX', value: maxAge } }),
  destroy: (key: string) => client.del(`sess:${key}`),
})

describe.each<[string, StartHost, (client: NodeRedis) => unknown]>([
  ['Express', startExpressHost, connectRedisStore],
  ['Fastify', startFastifyHost, connectRedisStore],
  ['Koa', startKoaHost, koaRedisStore],
])('two processes of %s over Redis', (_, startHost, storeOn) => {
  async function startProcess(logic: string, named = false) {
    const client = await connectRedis(server.url)
    onTestFinished(() => client.destroy())
    const store = storeOn(client) as object
    const sessionStore = named ? store : undefined
    const sessmgr = { store: redisStore({ client }), sessionStore, settings: { maximum: 3, logic } }
    return { client, host: await startHost({ sessions: new JsonSessions(), store, sessmgr }) }
  }

  test('rule 5: of parallel logins, as many as the limit are admitted', async () => {
    const { client, host: here } = await startProcess('block')
    await client.flushAll()
    const { host: there } = await startProcess('block')
    const browsers = Array.from({ length: LOGINS }, (_, n) => (n % 2 ? here : there).browser())
    const answers = await inParallel(LOGINS, LOGINS, (n) => browsers[n]?.login('alice') as Promise<{ status: number }>)
    expect(answers.filter(({ status }) => status === 200).length).toBe(3)
    expect(answers.filter(({ status }) => status === 403).length).toBe(LOGINS - 3)

    const visits = await Promise.all(browsers.map((browser, n) => browser.copy((n % 2 ? there : here).origin).me()))
    const working = browsers.map((browser) => here.sessionIdOf(browser) ?? '').filter((_, n) => visits[n] === 200)
    const listed = (await here.limiter.sessions.list(2)).map(({ token }) => token)
    expect([working.length, working.map(tokenOf).toSorted()]).toEqual([3, listed.toSorted()])
    expect((await client.keys('sess:*')).toSorted()).toEqual(working.map((id) => `sess:${id}`).toSorted())
  })

  test('rule 16: a site-wide logout reaches both, once for each session', async () => {
    const { client, host: here } = await startProcess('block')
    await client.flushAll()
    const { host: there } = await startProcess('block')
    const browser = here.browser()
    await browser.login('alice')
    expect(await browser.copy(there.origin).me()).toBe(200)
    await there.limiter.sessions.logoutAllUsers()
    const visits = Array.from({ length: 20 }, (_, n) => browser.copy((n % 2 ? there : here).origin).me())
    expect(new Set(await Promise.all(visits))).toEqual(new Set([401]))
    const fired = [...here.actions, ...there.actions].filter(([name]) => name === 'sessmgr_session_invalidated')
    expect(fired.length).toBe(1)
    expect(await client.keys('sess:*')).toEqual([])
    expect((await browser.login('alice')).status).toBe(200)
    expect(await browser.copy(there.origin).me()).toBe(200)
  })

  test('a slow request does not bring a session back that another process has ended before its first request', async () => {
    const { client, host: here } = await startProcess('logout_oldest', true)
    await client.flushAll()
    const { host: there } = await startProcess('logout_oldest', true)
    const browser = here.browser()
    await browser.login('alice')
    const held = browser.copy().post('/hold/gate?write=late')
    await here.gates.at('gate').arrived
    await there.limiter.sessions.endAll(2)
    here.gates.at('gate').open()
    await held
    expect(await client.keys('sess:*')).toEqual([])
    expect(await browser.me()).toBe(401)
  })
})
