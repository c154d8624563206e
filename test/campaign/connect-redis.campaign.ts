import { createRequire } from 'node:module'
import { join } from 'node:path'
import Redis from 'ioredis'
import Valkey from 'iovalkey'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { fromIoredis, type RedisClient, redisStore } from '../../src/redis.ts'
import { Browser } from '../support/browser.ts'
import { openExpressHost } from '../support/express-host.ts'
import { installPackages } from '../support/install-packages.ts'
import { connectRedis } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

let server: RedisServer
let folders: Readonly<Record<8 | 9 | 10, NodeJS.Require>>
beforeAll(async () => {
  server = await startRedis()
  const install = (version: number) => {
    const packages = { 'connect-redis': String(version), 'express-session': '1', redis: '5' }
    return createRequire(join(installPackages(`connect-redis-${version}`, packages), 'package.json'))
  }
  folders = { 8: install(8), 9: install(9), 10: install(10) }
}, 300_000)
afterAll(() => server?.stop())

interface Client {
  /** The client of the session store. */
  readonly sessions: unknown
  readonly client: RedisClient
  close(): unknown
}

const ofIoredis = (redis: Redis | Valkey): Client => ({
  sessions: redis,
  client: fromIoredis(redis),
  close: () => redis.disconnect(),
})
const ofNodeRedis = async (connect: typeof createClient): Promise<Client> => {
  const client = connect({ url: server.url })
  await client.on('error', () => {}).connect()
  return { sessions: client, client: client as never, close: () => client.destroy() }
}

const CLIENTS: Readonly<Record<string, () => Client | Promise<Client>>> = {
  'redis 5': () => ofNodeRedis(folders[9]('redis').createClient),
  'redis 6': () => ofNodeRedis(createClient),
  ioredis: () => ofIoredis(new Redis(server.url)),
  iovalkey: () => ofIoredis(new Valkey(server.url)),
}

/** What each version accepts, and whether sessions are read over the connection on which Redis tells changes. */
const CASES = [
  [8, 'redis 5', 'works'],
  [8, 'redis 6', 'works'],
  [8, 'ioredis', 'works'],
  [8, 'iovalkey', 'works'],
  [9, 'redis 5', 'tracks'],
  [9, 'redis 6', 'tracks'],
  [9, 'ioredis', 'refuses logins'],
  [9, 'iovalkey', 'refuses logins'],
  [10, 'redis 5', 'tracks'],
  [10, 'redis 6', 'tracks'],
  [10, 'ioredis', 'refuses logins'],
  [10, 'iovalkey', 'refuses logins'],
] as const

it.each(CASES)('connect-redis %s with %s %s', async (version, kind, expected) => {
  const redis = await connectRedis(server.url)
  await redis.flushAll()
  const { sessions, client, close } = await (CLIENTS[kind] as () => Promise<Client>)()
  const { RedisStore } = folders[version]('connect-redis')
  const store = redisStore({ client })
  const sessionStore = new RedisStore({ client: sessions })
  const host = await openExpressHost({
    settings: { maximum: 2, logic: 'logout_oldest' },
    sessmgr: { store, sessionStore },
    store: sessionStore,
    expressErrors: true,
  })
  onTestFinished(async () => {
    await host.close()
    await close()
    redis.destroy()
  })
  const browsers = Array.from({ length: 3 }, () => new Browser(host.origin))
  const logins = []
  for (const browser of browsers) logins.push((await browser.login('alice')).status)
  if (expected === 'refuses logins') return expect(logins).toEqual([503, 503, 503])
  const tracking = await store.watch?.whyNot(sessionStore)
  expect(tracking === undefined ? 'tracks' : 'works').toBe(expected)
  const states = () => Promise.all(browsers.map((browser) => browser.me()))
  expect(await states()).toEqual([401, 200, 200])
  expect(await redis.keys('sess:*')).toHaveLength(2)
  await browsers[2]?.post('/logout')
  expect(await states()).toEqual([401, 200, 401])
})
