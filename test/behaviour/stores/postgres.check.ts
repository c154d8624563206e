import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import { liveConnections } from '../../../src/live.ts'
import { postgresStore } from '../../../src/postgres.ts'
import { tableSchema } from '../../../src/stores/document/table-schema.ts'
import { login, newSession } from '../../contracts/store/store-case.ts'
import { openOnPostgres, startDatabaseHost } from '../../support/database-host.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { raceProcesses } from '../../support/race-processes.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.stop())

const tokenIn = ({ admitted }: Awaited<ReturnType<typeof login>>) => admitted.record.token

/** What the operator reads of a call that fails. */
async function reason(call: Promise<unknown>): Promise<string> {
  const error = (await call.then(
    () => undefined,
    (it) => it,
  )) as { code: string; status: number; cause: Error }
  expect(error).toMatchObject({ code: 'store_unavailable', status: 503 })
  return error.cause.message
}

/** A client that has begun a transaction, with a statement if one is given. */
async function inTransaction(statement = 'SELECT 1'): Promise<Client> {
  const client = new Client({ host: server.host, user: 'test', database: 'postgres' })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  await client.query(statement)
  return client
}

describe('postgresStore says what to do', () => {
  it('about a table that is missing', async () => {
    const store = postgresStore({ pool: server.pool(), table: 'missing' })
    expect(await reason(store.epoch.current())).toContain('"npx sessmgr schema postgres"')
  })

  it('about a table that is another one, has a column of another type, or no primary key', async () => {
    const columns = 'revision text, body text, expires_at'
    for (const table of [
      'id text PRIMARY KEY, name text',
      `id text PRIMARY KEY, ${columns} timestamptz`,
      `id text, ${columns} bigint`,
    ]) {
      const pool = server.pool({ max: 1 })
      await pool.query(`DROP TABLE IF EXISTS other; CREATE TABLE other (${table})`)
      const store = postgresStore({ pool, table: 'other' })
      expect(await reason(store.epoch.advance()), table).toContain('This version of sessmgr cannot use this table')
    }
  })

  it('about a user who may only read, and about a replica', async () => {
    const pool = server.pool()
    for (const statement of tableSchema('postgres', 'readable')) await pool.query(statement)
    await pool.query('CREATE USER reader; GRANT SELECT ON readable TO reader')
    const reader = postgresStore({ pool: server.pool({ user: 'reader' }), table: 'readable' })
    expect(await reader.epoch.current()).toMatchObject({ generation: 0 })
    expect(await reason(reader.epoch.advance())).toContain('Grant the database user SELECT, INSERT, UPDATE and DELETE')
    const readOnly = server.pool({ options: '-c default_transaction_read_only=on' })
    const replica = postgresStore({ pool: readOnly, table: 'readable' })
    expect(await reason(replica.epoch.advance())).toContain('Connect to the primary')
  })

  it('about a client in a transaction that has failed', async () => {
    const client = await inTransaction()
    await client.query('SELECT 1/0').catch(() => {})
    expect(await reason(postgresStore({ pool: { query: client.query.bind(client) } }).epoch.current())).toContain(
      'Pass a pool to postgresStore(), not a client',
    )
  })
})

describe('postgresStore', () => {
  it('takes any table name', async () => {
    for (const table of ['order', 'public.User', 'x'.repeat(50)]) {
      const store = postgresStore({ pool: server.pool(), table, createTable: true })
      await store.epoch.advance()
      expect(
        (await postgresStore({ pool: server.pool(), table: table.toLowerCase() }).epoch.current()).generation,
      ).toBeGreaterThan(0)
      const { rows } = await server
        .pool()
        .query('SELECT 1 FROM pg_indexes WHERE indexname = $1', [
          `${table.replace('public.', '').toLowerCase()}_expires_at`,
        ])
      expect(rows).toHaveLength(1)
    }
  })

  it('creates its table if it is asked to, also by many processes at once', async () => {
    const stores = [1, 2, 3].map(() =>
      postgresStore({ pool: server.pool({ max: 2 }), table: 'created', createTable: true }),
    )
    await Promise.all(stores.map((store) => store.epoch.advance()))
    expect((await stores[0]?.epoch.current())?.generation).toBeGreaterThan(0)
  })

  it('takes a login that lost at a higher isolation for one that lost', async () => {
    const pool = server.pool({ options: '-c default_transaction_isolation=serializable' })
    const store = postgresStore({ pool, table: 'strict', createTable: true })
    const read = await store.sessions.read(1)
    const commits = Array.from({ length: 10 }, (_, n) =>
      store.sessions.commit(1, read, { admit: newSession(`s${n}`), end: [] }),
    )
    expect((await Promise.all(commits)).filter(({ committed }) => committed)).toHaveLength(1)
  })

  it('names no session id where it says what PostgreSQL refuses', async () => {
    const pool = server.pool()
    await pool.query(
      'CREATE TABLE strange (id text PRIMARY KEY, revision text, body text CHECK (false), expires_at bigint)',
    )
    const store = postgresStore({ pool, table: 'strange' })
    const error = (await store.sessions.adopt(1, newSession('a raw session id')).catch((it) => it)) as Error
    expect(`${error.stack} ${JSON.stringify(error.cause)} ${(error.cause as Error).stack}`).not.toContain('raw session')
  })

  it('forgets no end that was confirmed, and loses no place, when the server crashes and starts again', async () => {
    const store = postgresStore({ pool: server.pool(), table: 'crashed', createTable: true })
    const tokens = [await login(store.sessions, 1, 'ended'), await login(store.sessions, 1, 'kept')].map(tokenIn)
    await store.sessions.end(1, [tokenOf('ended')])
    await store.epoch.advance()
    await server.kill()
    await expect(store.sessions.useOf(1, tokens[1] as string)).rejects.toMatchObject({ code: 'store_unavailable' })
    await server.start()
    expect(await Promise.all(tokens.map((token) => store.sessions.useOf(1, token)))).toMatchObject([
      undefined,
      { generation: 0 },
    ])
    expect((await store.epoch.current()).generation).toBeGreaterThan(0)
  })

  it('answers within its deadline while the server is frozen, and serves on after it', async () => {
    const store = postgresStore({ pool: server.pool(), table: 'frozen', createTable: true, deadlineMs: 50 })
    // The first call makes connection and table, which may take longer.
    await expect.poll(() => store.epoch.current().catch(() => 'not yet')).toMatchObject({ generation: 0 })
    server.freeze()
    await expect(store.epoch.current()).rejects.toMatchObject({ code: 'store_unavailable' })
    server.thaw()
    await expect.poll(() => store.epoch.current().catch(() => 'not yet')).toMatchObject({ generation: 0 })
  })

  it('goes on with prepared statements after connections were lost, statements dropped, and the table changed', async () => {
    const [admin, pool] = [server.pool(), server.pool({ max: 3 })]
    const store = postgresStore({ pool, table: 'prepared', createTable: true, prepare: true })
    const every = async (task: () => Promise<unknown>) => void (await Promise.all([1, 2, 3].map(task)))
    const all = async () => {
      await every(() => store.epoch.advance())
      await login(store.sessions, 1, `${Math.random()}`)
      return (await store.sessions.read(1)).sessions.length
    }
    expect(await all()).toBe(1)
    const { rows } = await pool.query(
      "SELECT count(*)::int AS count FROM pg_prepared_statements WHERE name ~ '^sessmgr'",
    )
    expect(rows[0].count).toBeGreaterThan(0)
    await every(() => pool.query('DISCARD ALL'))
    expect(await all()).toBe(2)
    await admin.query('ALTER TABLE prepared ALTER revision TYPE varchar(100), ADD note text')
    expect(await all()).toBe(3)
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query ~ 'prepared'",
    )
    await expect.poll(() => all().catch(() => 0)).toBe(4)
    expect((await store.epoch.current()).generation).toBeGreaterThan(0)
  })

  it('changes no index for a use of a session, whose row expires a little later', async () => {
    const pool = server.pool({ max: 1 })
    const store = postgresStore({ pool, table: 'used', createTable: true })
    const read = await store.sessions.read(1)
    const admit = { ...newSession('a', 86_400_000), device: null }
    await store.sessions.commit(1, read, { admit, end: [] })
    const expiry = async () => Number((await pool.query('SELECT expires_at FROM used')).rows[0].expires_at)
    const first = await expiry()
    expect(first).toBeGreaterThanOrEqual(Date.now() + 86_300_000)
    expect(first).toBeLessThan(Date.now() + 86_400_000 * 1.07)
    await store.sessions.touch(1, tokenOf('a'), 86_400_000)
    expect(await expiry()).toBe(first)
    await pool.query('SELECT pg_stat_force_next_flush()')
    const statistics = "SELECT n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'used'"
    await expect.poll(async () => (await pool.query(statistics)).rows[0].hot).toBe(1)
    await store.transients.set('exact', '', 86_400_000)
    const { rows } = await pool.query("SELECT expires_at FROM used WHERE id LIKE 't:%'")
    // The clocks of two processes round differently.
    expect(Number(rows[0].expires_at)).toBeLessThanOrEqual(5 + Date.now() + 86_400_000)
  })

  it('rule 5: several processes hold one limit, whatever their clocks say and though one of them is killed', async () => {
    const store = postgresStore({ pool: server.pool(), createTable: true })
    const settings = { maximum: 3, logic: 'block' }
    const race = { place: { host: server.host }, store, settings, users: [1, 2], logins: 40, processes: 3, killed: 1 }
    const { ended, mostAtOnce, left } = await raceProcesses(race)
    expect((ended.admitted ?? 0) + (ended.refused ?? 0)).toBe(80)
    expect(mostAtOnce).toBe(3)
    expect(left).toEqual([3, 3])
  })

  it('keeps the only client of a pool for logins, and says how open connections close sooner', async () => {
    const pool = server.pool({ max: 1 })
    const host = await startDatabaseHost(openOnPostgres(pool))
    const live = liveConnections(host.limiter, { sweepEvery: 100 })
    onTestFinished(async () => {
      await live.close()
      await host.stop()
    })
    await expect.poll(() => host.logs.length).toBe(1)
    expect(String(host.logs[0])).toContain(
      'has no client left for messages between processes. Set its "max" to 2 or more.',
    )
    const alice = await host.signedIn('alice')
    expect(await alice.me()).toBe(200)
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect(host.logs).toHaveLength(1)
  })

  it('takes one connection for a user whose row somebody has locked, and serves all others', async () => {
    const admin = server.pool({ max: 1 })
    const pool = server.pool({ max: 10 })
    const host = await startDatabaseHost(openOnPostgres(pool))
    onTestFinished(host.stop)
    const [alice, bob] = [await host.signedIn('alice'), await host.signedIn('bob')]
    const waiting = async () =>
      (await admin.query("SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).rows[0].count

    const forgotten = await inTransaction("SELECT 1 FROM sessmgr WHERE id = 'u:2' FOR UPDATE")
    const tries = Array.from({ length: 40 }, () => host.browser().login('alice'))
    await expect.poll(waiting).toBe(1)
    const carol = await host.signedIn('carol')
    const statuses = await Promise.all([alice.me(), bob.me(), carol.me()])
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect(new Set((await Promise.all(tries)).map(({ status }) => status))).toEqual(new Set([503]))
    expect(statuses).toEqual([200, 200, 200])
    // Nobody has used the store in the meantime, and still it does not count as one that does not respond.
    for (let turn = 0; turn < 12; turn++) expect((await host.browser().login('alice')).status).toBe(503)
    expect(await bob.me()).toBe(200)
    expect([await waiting(), pool.waitingCount]).toEqual([1, 0])

    await forgotten.query('ROLLBACK')
    await expect.poll(async () => (await host.browser().login('alice')).status).toBe(200)
  })

  it('takes six connections at most when somebody has locked many rows, and serves sessions', async () => {
    const pool = server.pool({ max: 10 })
    const store = postgresStore({ pool, table: 'many_locked', createTable: true, deadlineMs: 500 })
    const users = Array.from({ length: 20 }, (_, user) => user)
    const tokens = (await Promise.all(users.map((user) => login(store.sessions, user, 'first')))).map(tokenIn)

    const forgotten = await inTransaction('SELECT 1 FROM many_locked FOR UPDATE')
    for (const user of users) {
      await expect(login(store.sessions, user, 'second')).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    expect([pool.totalCount - pool.idleCount, pool.waitingCount]).toEqual([6, 0])
    expect((await store.sessions.useOf(1, tokens[1] ?? ''))?.generation).toBe(0)

    await forgotten.query('ROLLBACK')
    await expect
      .poll(() =>
        login(store.sessions, 1, 'second').then(
          () => 'in',
          () => 'refused',
        ),
      )
      .toBe('in')
  })
})
