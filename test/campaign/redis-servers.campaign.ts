import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Redis from 'ioredis'
import Valkey from 'iovalkey'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { fromIoredis, type RedisClient, redisStore } from '../../src/redis.ts'
import { failuresOf } from '../contracts/failures-of.ts'
import { useStore } from '../contracts/store/use-store.ts'
import { logInAtOnce } from '../support/log-in-at-once.ts'
import { printFigures } from '../support/print-figures.ts'
import { connectRedis } from '../support/redis-client.ts'
import { redisDriver, registerRedisDriverContract } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

/** Every server on the PATH, and every program in the folder that REDIS_SERVERS names. */
const folder = process.env.REDIS_SERVERS
const SERVERS = [
  'redis-server',
  'valkey-server',
  'keydb-server',
  ...(folder ? readdirSync(folder).map((name) => join(folder, name)) : []),
].flatMap((program) => {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  const [, name, version] = /(\w+) server v=([\d.]+)/i.exec(stdout ?? '') ?? []
  return version ? [[`${name} ${version}`, program] as const] : []
})

interface Connection {
  readonly client: RedisClient
  close(): unknown
}

const ofIoredis = (redis: Redis | Valkey): Connection => ({
  client: fromIoredis(redis),
  close: () => redis.disconnect(),
})
const ofNodeRedis = async (url: string, RESP: 2 | 3): Promise<Connection> => {
  const client = await connectRedis(url, { RESP: RESP as never })
  return { client: client as never, close: () => client.destroy() }
}

const CLIENTS: Readonly<Record<string, (url: string) => Connection | Promise<Connection>>> = {
  'redis with RESP 2': (url) => ofNodeRedis(url, 2),
  'redis with RESP 3': (url) => ofNodeRedis(url, 3),
  ioredis: (url) => ofIoredis(new Redis(url)),
  iovalkey: (url) => ofIoredis(new Valkey(url)),
}

describe.each(SERVERS)('%s', (server, program) => {
  let running: RedisServer
  beforeAll(async () => {
    running = await startRedis(undefined, program)
  })
  afterAll(() => running?.stop())

  it.each(Object.entries(CLIENTS))(
    'keeps the driver contract, a whole store and the limit by %s',
    async (kind, open) => {
      const [one, two] = [await open(running.url), await open(running.url)]
      onTestFinished(() => void [one, two].forEach(({ close }) => void close()))
      let prefixes = 0
      const create = async () => {
        const prefix = `${kind} ${++prefixes}:`
        const pass = (ms: number) => sleep(ms + 20)
        const another = async () => redisDriver(two.client, prefix)
        return { driver: redisDriver(one.client, prefix), another, pass, close: async () => {} }
      }
      expect(await failuresOf((runner) => registerRedisDriverContract({ ...runner, create }))).toEqual({})
      const storeOf = ({ client }: Connection) => redisStore({ client, prefix: `${kind}:` })
      const stores = [storeOf(one), storeOf(two)] as const
      await useStore(...stores)
      const tracking = (await stores[0].watch?.whyNot()) ?? 'on'
      printFigures(`${server}, ${kind}`, { tracking, 'logins per second': await logInAtOnce(stores) })
      await Promise.all(stores.map((store) => store.close()))
    },
  )
})
