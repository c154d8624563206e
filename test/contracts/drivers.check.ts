import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Redis from 'ioredis'
import Valkey from 'iovalkey'
import { Kysely, SqliteDialect } from 'kysely'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { kyselyDriver } from '../../examples/drivers/kysely.mjs'
import { postgresStore } from '../../src/postgres.ts'
import { fromIoredis, type RedisClient, redisStore } from '../../src/redis.ts'
import { tableSchema } from '../../src/stores/document/table-schema.ts'
import { postgresDriver } from '../../src/stores/postgres-store.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { redisDriver, registerRedisDriverContract } from '../support/redis-drivers.ts'
import { PLAIN_KINDS, REDIS_KINDS } from '../support/redis-kinds.ts'
import { type ReplicatedRedis, startReplicated, startSentinelOf } from '../support/redis-replicated.ts'
import type { RedisServer } from '../support/redis-server.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'
import { driverFailures, failuresOf } from './failures-of.ts'
import { PEOPLE_FACTS } from './store/people-facts.ts'
import { useSignals, useStore } from './store/use-store.ts'

/** The clocks of databases cannot be moved. */
const pass = (ms: number) => sleep(ms + 20)
const close = async () => {}

describe('PostgreSQL', () => {
  let server: PostgresServer
  let pools: readonly [Pool, Pool]
  let tables = 0
  beforeAll(async () => {
    server = await startPostgres()
    pools = [server.pool(), server.pool()]
  })
  afterAll(() => server?.stop())
  async function createTable(): Promise<string> {
    const table = `test${++tables}`
    for (const statement of tableSchema('postgres', table)) await pools[0].query(statement)
    return table
  }

  it.each([false, true])('keeps the driver contract, prepared: %s', async (prepare) => {
    const create = async () => {
      const table = await createTable()
      const another = async () => postgresDriver(pools[1], table, prepare)
      return { driver: postgresDriver(pools[0], table, prepare), another, pass, close }
    }
    expect(await driverFailures(create)).toEqual({})
  })

  it('serves a whole store, and passes signals on', async () => {
    const table = await createTable()
    const [store, other] = [
      postgresStore({ pool: pools[0], table }),
      postgresStore({ pool: pools[1], table, prepare: true }),
    ]
    await useStore(store, other)
    await useSignals(store.signals as never, other.signals as never)
    await Promise.all([store.close(), other.close()])
  })
})

it('Kysely keeps the driver contract, as in examples/drivers, of which the campaign runs the others', async () => {
  const Database = SQLITE_ENGINES.libsql as (typeof SQLITE_ENGINES)[string]
  const create = async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sessmgr-kysely-'))
    const opened: Kysely<unknown>[] = []
    const another = async () => {
      const database = new Database(join(directory, 'sessmgr.db'))
      database.exec('PRAGMA journal_mode = WAL')
      for (const statement of tableSchema('sqlite', 'sessmgr')) database.exec(statement)
      const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: database as never }) })
      opened.push(db)
      return kyselyDriver(db, 'sqlite')
    }
    const closeAll = async () => {
      await Promise.all(opened.map((db) => db.destroy()))
      rmSync(directory, { recursive: true, force: true })
    }
    return { driver: await another(), another, pass, close: closeAll }
  }
  expect(await driverFailures(create)).toEqual({})
})

let prefixes = 0

/** Why two clients of a Redis do not keep the driver contract. */
function redisFailures([one, two]: readonly [RedisClient, RedisClient]) {
  const create = async () => {
    const prefix = `driver ${++prefixes}:`
    return { driver: redisDriver(one, prefix), another: async () => redisDriver(two, prefix), pass, close }
  }
  return failuresOf((runner) => registerRedisDriverContract({ ...runner, create }))
}

describe('Redis with a replica', () => {
  let replicated: ReplicatedRedis
  let sentinel: RedisServer
  beforeAll(async () => {
    replicated = await startReplicated()
    sentinel = await startSentinelOf(replicated)
  })
  afterAll(async () => {
    await sentinel.stop()
    await replicated.stop()
  })

  it.each(Object.entries({ ...PLAIN_KINDS, ...REDIS_KINDS }))(
    'keeps the driver contract by %s, and serves a whole store whose ends a replica confirms',
    async (kind, connect) => {
      const connections = await Promise.all([1, 2].map(() => connect({ replicated, sentinel })))
      onTestFinished(() => connections.forEach(async (connection) => void (await connection.close())))
      const [one, two] = connections.map(({ client }) => client) as [RedisClient, RedisClient]
      expect(await redisFailures([one, two])).toEqual({})
      const options = { prefix: `${kind}:`, durability: 'replica', deadlineMs: 60_000 } as const
      const stores = [redisStore({ ...options, client: one }), redisStore({ ...options, client: two })] as const
      await useStore(...stores)
      await Promise.all(stores.map((store) => store.close()))
    },
  )
})

describe('a Redis cluster of three masters', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  it('keeps the driver contract by node-redis, and serves a whole store with an index and signals', async () => {
    const clients = [await cluster.connect(), await cluster.connect()] as const
    onTestFinished(() => clients.forEach((client) => void client.destroy()))
    expect(await redisFailures(clients)).toEqual({})
    const twoStores = (prefix: string) =>
      [redisStore({ client: clients[0], prefix }), redisStore({ client: clients[1], prefix })] as const
    const [store, other] = twoStores('whole:')
    await useStore(store, other)
    await useSignals(store.signals as never, other.signals as never)
    for (const [index, fact] of Object.values(PEOPLE_FACTS).entries()) {
      const [one, two] = twoStores(`people ${index}:`)
      await fact(one.people, two.people)
    }
  })

  it.each(Object.entries({ ioredis: Redis.Cluster, iovalkey: Valkey.Cluster }))(
    'keeps the driver contract by %s, also with a prefix of the client',
    async (_, Cluster) => {
      const nodes = cluster.nodes.map(({ server }) => ({ host: '127.0.0.1', port: server.port }))
      for (const keyPrefix of ['', 'app:']) {
        const clients = [1, 2].map(() => new (Cluster as typeof Redis.Cluster)(nodes, { keyPrefix }))
        onTestFinished(() => clients.forEach((client) => void client.disconnect()))
        const [one, two] = clients.map((client) => fromIoredis(client)) as [RedisClient, RedisClient]
        expect(await redisFailures([one, two])).toEqual({})
      }
    },
  )
})
