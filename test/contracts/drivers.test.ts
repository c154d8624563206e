import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentStore } from '../../src/document.ts'
import { redisStore } from '../../src/redis.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { SqliteDriver } from '../../src/stores/sqlite-store.ts'
import { fakeClock } from '../../src/testing.ts'
import { MemoryRows } from '../support/memory-driver.ts'
import { connectRedis, type NodeRedis } from '../support/redis-client.ts'
import { redisDriver, registerRedisDriverContract } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'
import { driverFailures, failuresOf } from './failures-of.ts'
import { PEOPLE_FACTS } from './store/people-facts.ts'
import { useSignals, useStore } from './store/use-store.ts'

// PostgreSQL, other kinds of clients of Redis, and clusters are in drivers.check.ts.
describe.each(Object.entries(SQLITE_ENGINES))('SQLite by %s', (_, Database) => {
  /** Opens one file of its own any number of times, as further processes would. */
  function useFile() {
    const directory = mkdtempSync(join(tmpdir(), 'sessmgr-sqlite-'))
    const opened: { close(): unknown }[] = []
    const open = () => {
      const database = new Database(join(directory, 'sessmgr.db'))
      opened.push(database)
      return database
    }
    const close = async () => {
      for (const database of opened) database.close()
      rmSync(directory, { recursive: true, force: true })
    }
    return { clock: fakeClock(), open, close }
  }

  it('keeps the driver contract', async () => {
    const create = async () => {
      const { open, clock, close } = useFile()
      const another = async () => {
        const driver = new SqliteDriver(open, { local: false, table: 'sessmgr', clock, owned: false })
        await driver.open()
        return driver
      }
      return { driver: await another(), another, pass: async (ms: number) => clock.advance(ms), close }
    }
    expect(await driverFailures(create)).toEqual({})
  })

  it('serves a whole store', async () => {
    const { open, clock, close } = useFile()
    const stores = [1, 2].map(() => sqliteStore({ database: open(), clock })) as [never, never]
    await useStore(...stores)
    await close()
  })
})

describe('Redis by node-redis', () => {
  let server: RedisServer
  let clients: readonly [NodeRedis, NodeRedis]
  let prefixes = 0
  beforeAll(async () => {
    server = await startRedis()
    clients = [await connectRedis(server.url), await connectRedis(server.url)]
  })
  afterAll(async () => {
    for (const client of clients) client.destroy()
    await server.stop()
  })
  const twoStores = () => {
    const prefix = `test${++prefixes}:`
    return [redisStore({ client: clients[0], prefix }), redisStore({ client: clients[1], prefix })] as const
  }

  it('keeps the driver contract', async () => {
    const create = async () => {
      const prefix = `test${++prefixes}:`
      const another = async () => redisDriver(clients[1], prefix)
      return {
        driver: redisDriver(clients[0], prefix),
        another,
        pass: (ms: number) => sleep(ms),
        close: async () => {},
      }
    }
    expect(await failuresOf((runner) => registerRedisDriverContract({ ...runner, create }))).toEqual({})
  })

  it('serves a whole store, and passes signals on', async () => {
    const [store, other] = twoStores()
    await useStore(store, other)
    await useSignals(store.signals as never, other.signals as never)
    await Promise.all([store.close(), other.close()])
  })

  it.each(Object.entries(PEOPLE_FACTS))('has an index of people that %s', async (_, fact) => {
    const [store, other] = twoStores()
    await fact(store.people, other.people)
  })
})

describe('documentStore()', () => {
  it.each([
    [{ purge: undefined }, '"driver.purge" must be a function'],
    [{ signals: { publish: async () => {} } }, '"driver.signals.subscribe" must be a function'],
  ])('refuses a driver with %j', (part, message) => {
    expect(() => documentStore({ ...new MemoryRows().driver(), ...part } as never)).toThrow(message)
  })
})
