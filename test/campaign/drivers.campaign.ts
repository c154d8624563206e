import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex from 'knex'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { drizzleDriver } from '../../examples/drivers/drizzle.mjs'
import { knexDriver } from '../../examples/drivers/knex.mjs'
import { kyselyDriver } from '../../examples/drivers/kysely.mjs'
import { mysqlDriver } from '../../examples/drivers/mysql.mjs'
import { type DocumentDriver, documentStore } from '../../src/document.ts'
import { type SchemaName, tableSchema } from '../../src/stores/document/table-schema.ts'
import { registerDocumentDriverContract } from '../../src/testing.ts'
import { useStore } from '../contracts/store/use-store.ts'
import { knexOnSqlite } from '../support/knex-on-sqlite.ts'
import { hasMariadb, type MariadbServer, startMariadb } from '../support/mariadb-server.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'

let postgres: PostgresServer
let mariadb: MariadbServer | undefined
let directory: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-drivers-'))
  postgres = await startPostgres()
  if (hasMariadb()) mariadb = await startMariadb()
})
afterAll(async () => {
  await mariadb?.stop()
  await postgres?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** A driver over a connection of its own, as in another process. */
interface Opened {
  readonly driver: DocumentDriver
  close(): Promise<unknown>
}
type Open = () => Opened

const file = () => join(directory, 'sessmgr.db')
const mysqlPool = () => mysql.createPool({ ...mariadb?.connection, connectionLimit: 5 })

const onPostgres: Record<string, Open> = {
  Knex() {
    const db = knex({ client: 'pg', connection: { host: postgres.host, user: 'test', database: 'postgres' } })
    return { driver: knexDriver(db, 'postgres'), close: () => db.destroy() }
  },
  Kysely() {
    const db = new Kysely({ dialect: new PostgresDialect({ pool: postgres.pool() }) })
    return { driver: kyselyDriver(db, 'postgres'), close: () => db.destroy() }
  },
  Drizzle() {
    const pool = postgres.pool()
    return { driver: drizzleDriver(drizzle(pool)), close: () => pool.end() }
  },
}
const onMariadb: Record<string, Open> = {
  mysql2() {
    const pool = mysqlPool()
    return { driver: mysqlDriver(pool), close: () => pool.end() }
  },
  Knex() {
    const db = knex({ client: 'mysql2', connection: { ...mariadb?.connection } })
    return { driver: knexDriver(db, 'mysql'), close: () => db.destroy() }
  },
}
const onSqlite = (Database: (typeof SQLITE_ENGINES)[string]): Record<string, Open> => ({
  Knex() {
    const db = knexOnSqlite(file(), Database)
    return { driver: knexDriver(db, 'sqlite'), close: () => db.destroy() }
  },
  Kysely() {
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new Database(file()) as never }) })
    return { driver: kyselyDriver(db, 'sqlite'), close: () => db.destroy() }
  },
})

/** Knex and Kysely ask a statement whether it has rows, which Node's own does not know. */
const likeBetterSqlite3 = Object.entries(SQLITE_ENGINES).filter(([name]) => name !== 'node:sqlite')

/** Runs the driver contract, and uses a whole store, with each driver, on the table of one database. */
function registerContracts(schema: SchemaName, drivers: Record<string, Open>, run: (sql: string) => Promise<unknown>) {
  beforeAll(async () => {
    for (const statement of tableSchema(schema, 'sessmgr')) await run(statement)
  })
  for (const [name, open] of Object.entries(drivers)) {
    const create = async () => {
      const opened: Opened[] = []
      const another = async () => {
        const made = open()
        opened.push(made)
        return made.driver
      }
      const close = async () => {
        await Promise.all(opened.map((each) => each.close()))
      }
      const driver = await another()
      await driver.wipe()
      // The clock is the database's, which nobody can move.
      return { driver, another, pass: (ms: number) => sleep(ms + 20), close }
    }
    describe(`the driver contract on ${name}`, () => {
      registerDocumentDriverContract({ describe, it, create })
    })
    it(`a whole store is served by ${name}`, async () => {
      const { driver, another, close } = await create()
      await useStore(documentStore(driver), documentStore(await another()))
      await close()
    })
  }
}

describe('PostgreSQL', () => {
  registerContracts('postgres', onPostgres, (sql) => postgres.pool().query(sql))
})

describe.skipIf(!hasMariadb())('MariaDB', () => {
  registerContracts('mysql', onMariadb, async (sql) => {
    const pool = mysqlPool()
    await pool.query(sql)
    await pool.end()
  })
})

describe.each(likeBetterSqlite3)('SQLite by %s', (_name, Database) => {
  registerContracts('sqlite', onSqlite(Database), async (sql) => {
    const database = new Database(file())
    database.exec('PRAGMA journal_mode = WAL')
    database.exec(sql)
    database.close()
  })
})
