import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import knex, { type Knex } from 'knex'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { drizzleDriver } from '../../examples/drivers/drizzle.mjs'
import { dynamodbDriver } from '../../examples/drivers/dynamodb.mjs'
import { knexDriver } from '../../examples/drivers/knex.mjs'
import { kyselyDriver } from '../../examples/drivers/kysely.mjs'
import { mysqlDriver } from '../../examples/drivers/mysql.mjs'
import { prismaDriver } from '../../examples/drivers/prisma.mjs'
import { typeormDriver } from '../../examples/drivers/typeorm.mjs'
import { type DocumentDriver, documentStore } from '../../src/document.ts'
import type { SqliteDatabase } from '../../src/sqlite.ts'
import { type SchemaName, tableSchema } from '../../src/stores/document/table-schema.ts'
import { registerDocumentDriverContract } from '../../src/testing.ts'
import { useStore } from '../contracts/store/use-store.ts'
import { installPackages } from '../support/install-packages.ts'
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

const PACKAGES = {
  '@aws-sdk/client-dynamodb': '3',
  '@aws-sdk/lib-dynamodb': '3',
  '@prisma/adapter-pg': '7',
  '@prisma/client': '7',
  dynalite: '4',
  pg: '8',
  prisma: '7',
  typeorm: '1',
}

let installed: NodeJS.Require

/** Writes a client of Prisma without models, and returns its class. */
function generatePrisma() {
  const folder = dirname(installed.resolve('./package.json'))
  writeFileSync(join(folder, 'schema.prisma'), PRISMA_SCHEMA)
  // Without models, nothing needs the engine that Prisma would download.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
  const made = spawnSync('npx', ['prisma', 'generate'], { cwd: folder, encoding: 'utf8', env })
  if (made.status !== 0) throw new Error(`prisma generate failed: ${made.stderr}`)
  return installed('@prisma/client').PrismaClient
}

const PRISMA_SCHEMA = `generator client {
  provider = "prisma-client-js"
}
datasource db {
  provider = "postgresql"
}
`

let PrismaClient: ReturnType<typeof generatePrisma>
let postgres: PostgresServer
let mariadb: MariadbServer | undefined
let directory: string
beforeAll(async () => {
  installed = createRequire(join(installPackages('drivers', PACKAGES), 'package.json'))
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-drivers-'))
  postgres = await startPostgres()
  PrismaClient = generatePrisma()
  if (hasMariadb()) mariadb = await startMariadb()
}, 300_000)
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
  TypeORM() {
    const { DataSource } = installed('typeorm')
    const source = new DataSource({ type: 'postgres', host: postgres.host, username: 'test', database: 'postgres' })
    const opening = source.initialize()
    const query = async (...statement: unknown[]) => (await opening).query(...statement)
    return { driver: typeormDriver({ query }), close: () => source.destroy() }
  },
  Prisma() {
    const { PrismaPg } = installed('@prisma/adapter-pg')
    const adapter = new PrismaPg({ host: postgres.host, user: 'test', database: 'postgres' })
    const prisma = new PrismaClient({ adapter })
    return { driver: prismaDriver(prisma), close: () => prisma.$disconnect() }
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

/** Creates the table of a database before its tests. */
function createTable(schema: SchemaName, run: (sql: string) => unknown): void {
  beforeAll(async () => {
    for (const statement of tableSchema(schema, 'sessmgr')) await run(statement)
  })
}

/** Runs the driver contract, except for some facts, and uses a whole store, with each driver. */
function registerContracts(drivers: Record<string, Open>, leftOut: readonly string[] = []) {
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
      registerDocumentDriverContract({
        describe,
        it: (fact, body) => (leftOut.includes(fact) ? undefined : it(fact, body)),
        create,
      })
    })
    it(`a whole store is served by ${name}`, async () => {
      const { driver, another, close } = await create()
      await useStore(documentStore(driver), documentStore(await another()))
      await close()
    })
  }
}

describe('PostgreSQL', () => {
  createTable('postgres', (sql) => postgres.pool().query(sql))
  registerContracts(onPostgres)
})

describe.skipIf(!hasMariadb())('MariaDB', () => {
  createTable('mysql', async (sql) => {
    const pool = mysqlPool()
    await pool.query(sql)
    await pool.end()
  })
  registerContracts(onMariadb)
})

describe.each(likeBetterSqlite3)('SQLite by %s', (_name, Database) => {
  createTable('sqlite', (sql) => {
    const database = new Database(file())
    database.exec('PRAGMA journal_mode = WAL')
    database.exec(sql)
    database.close()
  })
  registerContracts(onSqlite(Database))
})

describe('DynamoDB, in the emulator dynalite', () => {
  let emulator: Server
  let endpoint: string
  const credentials = { accessKeyId: 'x', secretAccessKey: 'x' }
  beforeAll(async () => {
    emulator = installed('dynalite')({ createTableMs: 0 })
    await new Promise<void>((resolve) => emulator.listen(0, '127.0.0.1', resolve))
    endpoint = `http://127.0.0.1:${(emulator.address() as AddressInfo).port}`
    const { DynamoDB } = installed('@aws-sdk/client-dynamodb')
    const client = new DynamoDB({ region: 'x', endpoint, credentials })
    await client.createTable({
      TableName: 'sessmgr',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    })
    for (let status = ''; status !== 'ACTIVE'; ) {
      status = (await client.describeTable({ TableName: 'sessmgr' })).Table.TableStatus
    }
    client.destroy()
  })
  afterAll(() => new Promise((resolve) => emulator.close(resolve)))

  const open: Open = () => {
    const { DynamoDB } = installed('@aws-sdk/client-dynamodb')
    const client = new DynamoDB({ region: 'x', endpoint, credentials })
    const { DynamoDBDocument } = installed('@aws-sdk/lib-dynamodb')
    return { driver: dynamodbDriver(DynamoDBDocument.from(client)), close: async () => client.destroy() }
  }
  registerContracts({ 'the AWS SDK': open })
})
