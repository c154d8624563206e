import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postgresStore } from '../../src/postgres.ts'
import { redisStore } from '../../src/redis.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { printFigures } from '../support/print-figures.ts'
import { raceProcesses } from '../support/race-processes.ts'
import { connectRedis } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const PROCESSES = 4
const LOGINS_EACH = 2500

let directory: string
let postgres: PostgresServer
let redis: RedisServer
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-events-'))
  postgres = await startPostgres()
  redis = await startRedis()
})
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
  await postgres?.stop()
  await redis?.stop()
})

const PLACES = {
  async Redis() {
    const client = await connectRedis(redis.url)
    return { place: { url: redis.url }, store: redisStore({ client }), close: () => client.destroy() }
  },
  async SQLite() {
    const path = join(directory, 'sessmgr.db')
    const store = sqliteStore({ path })
    return { place: { path }, store, close: () => store.close() }
  },
  async PostgreSQL() {
    const store = postgresStore({ pool: postgres.pool(), createTable: true })
    return { place: { host: postgres.host }, store, close: () => store.close() }
  },
}

it.each(Object.entries(PLACES))(
  'rule 91: every session starts and ends once for all of %s, and the rest is live',
  async (name, open) => {
    const { place, store, close } = await open()
    const users = Array.from({ length: 50 }, (_, index) => index + 1)
    const settings = { maximum: 3, logic: 'logout_oldest' }
    // A call that times out may have been carried out, which nobody counts. One that finds a file locked has not.
    const patience = { inFlight: 5, deadlineMs: 60_000 }
    const load = { users, settings, logins: LOGINS_EACH, processes: PROCESSES, endsToo: true }
    const { ended, announced } = await raceProcesses({ place, store, ...load, ...patience })
    const reads = await Promise.all(users.map((user) => store.sessions.read(user)))
    const live = reads.flatMap(({ sessions }) => sessions.map(({ record }) => record.token))
    const started = new Set(announced.started)
    const over = new Set(announced.ended)
    const figures = { started: announced.started.length, ended: announced.ended.length, live: live.length }
    printFigures(name, { ...ended, ...figures })
    const { admitted = 0, store_unavailable: failed = 0, ...others } = ended
    expect(others).toEqual({ refused: 0 })
    expect(admitted + failed).toBeGreaterThanOrEqual(PROCESSES * LOGINS_EACH)
    expect(figures.started).toBe(admitted)
    expect([started.size, over.size]).toEqual([announced.started.length, announced.ended.length])
    expect([...over, ...live].toSorted()).toEqual([...started].toSorted())
    await close()
  },
)
