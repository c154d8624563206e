import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { postgresStore } from '../../src/postgres.ts'
import { tableSchema } from '../../src/stores/document/table-schema.ts'
import { postgresDriver } from '../../src/stores/postgres-store.ts'
import { registerDocumentDriverContract } from '../../src/testing.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { registerStoreContract } from './store/store-contract.ts'

let server: PostgresServer
let pools: readonly [Pool, Pool]
let tables = 0
/** Longer than 50 concurrent changes of one row take on a busy machine. */
const deadlineMs = 5000

beforeAll(async () => {
  server = await startPostgres()
  pools = [server.pool(), server.pool()]
})
afterAll(() => server?.stop())

/** Waits for the clock of the server, which nobody can move. */
const pass = (ms: number) => sleep(ms + 20)

async function createTable(): Promise<string> {
  const table = `test${++tables}`
  for (const statement of tableSchema('postgres', table)) await pools[0].query(statement)
  return table
}

describe.each([false, true])('the driver contract on PostgreSQL, prepared: %s', (prepare) => {
  registerDocumentDriverContract({
    describe,
    it,
    async create() {
      const table = await createTable()
      const another = async () => postgresDriver(pools[1], table, prepare)
      return { driver: postgresDriver(pools[0], table, prepare), another, pass, close: async () => {} }
    },
  })
})

describe('the store contract on PostgreSQL', () => {
  registerStoreContract({
    describe,
    it,
    realTime: true,
    async create() {
      const table = await createTable()
      const another = async () => postgresStore({ pool: pools[1], table, deadlineMs, prepare: true })
      return { store: postgresStore({ pool: pools[0], table, deadlineMs }), another, pass, close: async () => {} }
    },
  })
})
