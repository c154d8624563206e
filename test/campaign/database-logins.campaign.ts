import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/postgres.ts'
import { fromIoredis, redisStore } from '../../src/redis.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { printFigures } from '../support/print-figures.ts'
import { raceProcesses } from '../support/race-processes.ts'
import { type ClusterClient, type RedisCluster, startCluster } from '../support/redis-cluster.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']
const LOGINS_EACH = 2500
const PROCESSES = 4

let server: PostgresServer
let directory: string
let redis: RedisServer
let ioredis: Redis
let cluster: RedisCluster
let clusterClient: ClusterClient
beforeAll(async () => {
  redis = await startRedis()
  ioredis = new Redis(redis.url)
  cluster = await startCluster()
  clusterClient = await cluster.connect()
  server = await startPostgres()
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-sqlite-'))
})
afterAll(async () => {
  clusterClient?.destroy()
  await cluster?.stop()
  ioredis?.disconnect()
  await redis?.stop()
  await server?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const places = {
  PostgreSQL: () => ({
    place: { host: server.host },
    store: postgresStore({ pool: server.pool(), createTable: true }),
  }),
  SQLite: () => {
    const path = join(directory, 'sessmgr.db')
    return { place: { path }, store: sqliteStore({ path }) }
  },
  ioredis: () => ({
    place: { url: redis.url, client: 'ioredis' } as const,
    store: redisStore({ client: fromIoredis(ioredis) }),
  }),
  'a Redis Cluster': () => ({
    place: { url: cluster.nodes[0]?.server.url ?? '', client: 'cluster' } as const,
    store: redisStore({ client: clusterClient }),
  }),
}

/**
 * Expects that every process which was not killed knows how each login ended. With so many on one account, a few may
 * lose their hundred races, or wait for longer than the deadline: those are refused with 503.
 */
function expectAllTold(ended: Readonly<Record<string, number>>, logins: number): void {
  const { admitted = 0, refused = 0, login_conflict = 0, store_unavailable = 0 } = ended
  expect(admitted + refused + login_conflict + store_unavailable).toBe(logins)
  expect(admitted + refused).toBeGreaterThan(0.99 * logins)
}

let user = 0
describe.each(Object.entries(places))('four processes on %s', (name, open) => {
  for (const logic of MODES) {
    for (const maximum of [1, 3, 10]) {
      it(`rule 5: ${LOGINS_EACH * PROCESSES} parallel logins of one account, ${logic}, maximum ${maximum}`, async () => {
        const users = [++user]
        const race = { ...open(), settings: { maximum, logic }, users, logins: LOGINS_EACH, processes: PROCESSES }
        const { ended, mostAtOnce, left } = await raceProcesses(race)
        printFigures(`${name}, ${logic}, maximum ${maximum}`, { ended, mostAtOnce, left })
        const all = LOGINS_EACH * PROCESSES
        expectAllTold(ended, all)
        if (logic === 'block' || logic === 'ask') expect(ended.admitted).toBe(maximum)
        expect(mostAtOnce).toBeLessThanOrEqual(maximum)
        expect(left[0]).toBeLessThanOrEqual(maximum)
        expect(left[0]).toBeGreaterThanOrEqual(logic === 'allow' ? 1 : maximum)
        await race.store.close()
      })
    }
  }

  it.each(MODES)('rule 5: eight processes, of which four are killed, %s: never over the limit', async (logic) => {
    const users = [++user, ++user, ++user]
    const settings = { maximum: 3, logic }
    const race = { ...open(), settings, users, logins: 2000, processes: 8, killed: 4 }
    const { ended, mostAtOnce, left } = await raceProcesses(race)
    printFigures(`${name}, ${logic}, four of eight killed`, { ended, mostAtOnce, left })
    expectAllTold(ended, 8000)
    expect(mostAtOnce).toBeLessThanOrEqual(3)
    for (const count of left) expect(count).toBeGreaterThanOrEqual(logic === 'allow' ? 1 : 3)
    await race.store.close()
  })
})

it('rule 5: the server of PostgreSQL crashes and starts again while eight processes log in', async () => {
  const store = postgresStore({ pool: server.pool(), createTable: true })
  const meanwhile = async () => {
    await server.kill()
    await server.start()
  }
  const settings = { maximum: 3, logic: 'logout_oldest' }
  const race = { place: { host: server.host }, store, settings, users: [++user], logins: 2000, processes: 8, meanwhile }
  const { ended, mostAtOnce, left } = await raceProcesses(race)
  printFigures('PostgreSQL crashes', { ended, mostAtOnce, left })
  const known = ['admitted', 'refused', 'store_unavailable', 'login_conflict']
  expect(Object.keys(ended).filter((it) => !known.includes(it))).toEqual([])
  expect(ended.store_unavailable).toBeGreaterThan(0)
  expect(mostAtOnce).toBeLessThanOrEqual(3)
  expect(left).toEqual([3])
})
