import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex, { type Knex } from 'knex'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { drizzleDriver } from '../../examples/drivers/drizzle.mjs'
import { knexDriver } from '../../examples/drivers/knex.mjs'
import { kyselyDriver } from '../../examples/drivers/kysely.mjs'
import { mysqlDriver } from '../../examples/drivers/mysql.mjs'
import { type DocumentDriver, documentStore } from '../../src/document.ts'
import type { SqliteDatabase } from '../../src/sqlite.ts'
import { type SchemaName, tableSchema } from '../../src/stores/document/table-schema.ts'
import { registerDocumentDriverContract } from '../../src/testing.ts'
import { useStore } from '../contracts/store/use-store.ts'
import { identity, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'

const require = createRequire(import.meta.url)
const BetterSqlite3 = require('knex/lib/dialects/better-sqlite3/index.js') as typeof Knex.Client

/** Opens a SQLite file with Knex, through a package with the API of better-sqlite3. */
function knexOnSqlite(filename: string, Database: new (path: string) => SqliteDatabase): Knex {
  const client = class extends BetterSqlite3 {
    _driver() {
      return Database
    }
  }
  return knex({ client, connection: { filename }, useNullAsDefault: true })
}

/** A private MariaDB server with a socket in its own folder. */
interface MariadbServer {
  /** The socket and the user for connections. */
  readonly connection: { readonly socketPath: string; readonly user: string; readonly database: string }
  stop(): Promise<void>
}

/** Path of the server from the system's package, which is not on the PATH of most users. */
const PROGRAM = '/usr/sbin/mariadbd'

/** Returns whether MariaDB is installed. Only the campaign uses it. */
const hasMariadb = () => existsSync(PROGRAM)

/** Starts a private server in its own folder and waits until it responds. */
async function startMariadb(): Promise<MariadbServer> {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-mariadb-'))
  const user = identity('mysql')
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid)
  const data = `--datadir=${join(directory, 'data')}`
  const socketPath = join(directory, 'socket')
  const made = spawnSync('mariadb-install-db', ['--no-defaults', data, '--auth-root-authentication-method=normal'], {
    ...user,
    cwd: directory,
    encoding: 'utf8',
  })
  if (made.status !== 0) throw new Error(`mariadb-install-db failed: ${made.stderr}`)
  const settings = [
    '--no-defaults',
    data,
    `--socket=${socketPath}`,
    '--skip-networking',
    '--innodb-buffer-pool-size=32M',
  ]
  const child = spawn(PROGRAM, settings, { ...user, cwd: directory, stdio: 'ignore' })
  const leaveNothing = () => child.kill('SIGKILL')
  process.once('exit', leaveNothing)
  const connection = { socketPath, user: 'root', database: 'test' }
  for (;;) {
    if (child.exitCode !== null) throw new Error(`mariadbd ended with ${child.exitCode}`)
    try {
      const first = await mysql.createConnection({ ...connection, database: 'mysql' })
      await first.query('CREATE DATABASE IF NOT EXISTS test')
      await first.end()
      break
    } catch {
      await sleep(50)
    }
  }
  return {
    connection,
    async stop() {
      process.off('exit', leaveNothing)
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

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
