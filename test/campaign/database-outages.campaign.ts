import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Browser } from '../support/browser.ts'
import { openOnPostgres, openOnSqlite, startDatabaseHost } from '../support/database-host.ts'
import { inParallel } from '../support/in-parallel.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { cutPower, type PowerCut } from '../support/power-cut.ts'
import { printFigures } from '../support/print-figures.ts'
import { countBy } from '../support/race-logins.ts'
import { SQLITE_ENGINES } from '../support/sqlite-engines.ts'
import { startProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const DEADLINE_MS = 1000
const OUTAGE_MS = 5000
const CYCLES = 15
/** Two calls may follow each other, and a busy machine adds to that. */
const PATIENCE_MS = 2 * DEADLINE_MS + 2000

let server: PostgresServer
let proxy: TcpProxy
let directory: string
beforeAll(async () => {
  server = await startPostgres()
  proxy = await startProxy(join(server.host, '.s.PGSQL.5432'))
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-outages-'))
})
afterAll(async () => {
  await proxy?.stop()
  await server?.stop()
  rmSync(directory, { recursive: true, force: true })
})

type Host = Awaited<ReturnType<typeof startDatabaseHost>>

/** Starts an application with two browsers of alice, and one whose session was ended. */
async function startWorld(host: Host) {
  onTestFinished(host.stop)
  const ended = await host.signedIn('bob')
  const stolen = ended.copy()
  await host.limiter.sessions.endAll(3)
  const live = [await host.signedIn('alice'), await host.signedIn('alice')]
  return { host, live, stolen }
}

async function startOnPostgres() {
  const pool = server.pool({ host: '127.0.0.1', port: proxy.port, max: 20 })
  return startWorld(await startDatabaseHost(openOnPostgres(pool, DEADLINE_MS), { deadlineMs: DEADLINE_MS }))
}

interface World {
  readonly host: Host
  readonly live: readonly Browser[]
  readonly stolen: Browser
}

/** Asks and logs in without a pause until the time is over. */
async function press({ host, live, stolen }: World, ms: number) {
  const end = performance.now() + ms
  const statuses: Record<'live' | 'stolen' | 'login', number[]> = { live: [], stolen: [], login: [] }
  let slowestMs = 0
  const signedIn: Browser[] = []
  await inParallel(12, 12, async (n) => {
    do {
      const start = performance.now()
      const browser = host.browser()
      const kind = (['live', 'stolen', 'login'] as const)[n % 3] ?? 'live'
      const answer = await {
        live: () => live[n % 2]?.get('/me'),
        stolen: () => stolen.copy().get('/me'),
        login: () => browser.login('carol'),
      }[kind]()
      if (!answer) continue
      statuses[kind].push(answer.status)
      // Nobody loses the cookie of a live session.
      if (kind === 'live') expect(answer.setCookies).toEqual([])
      if (kind === 'login' && answer.status < 300) signedIn.push(browser)
      slowestMs = Math.max(slowestMs, performance.now() - start)
      await sleep(5)
    } while (performance.now() < end)
  })
  const counts = Object.fromEntries(Object.entries(statuses).map(([kind, all]) => [kind, countBy(all)]))
  return { counts, slowestMs: Math.round(slowestMs), signedIn }
}

/** Expects that everybody is as before, and that the limit holds. */
async function expectAsBefore({ host, live, stolen }: World): Promise<void> {
  const served = async () => (await live[0]?.get('/me'))?.status
  await expect.poll(served, { timeout: 20_000, interval: 50 }).toBe(200)
  expect(await Promise.all([...live, stolen.copy()].map((browser) => browser.me()))).toEqual([200, 200, 401])
  expect(await host.limiter.sessions.count(2)).toBe(2)
  await host.signedIn('carol')
  expect(await host.limiter.sessions.count(4)).toBeLessThanOrEqual(2)
}

describe('PostgreSQL', () => {
  const outages: Record<string, readonly [() => unknown, () => unknown]> = {
    'is frozen': [() => server.freeze(), () => server.thaw()],
    'is slower than the deadline': [() => proxy.set({ kind: 'delay', ms: 1500 }), () => proxy.set({ kind: 'none' })],
    'is in a black hole': [() => proxy.set({ kind: 'black hole' }), () => proxy.set({ kind: 'none' })],
    'loses every connection': [() => proxy.set({ kind: 'reset' }), () => proxy.set({ kind: 'none' })],
    'is down': [() => server.kill(), () => server.start()],
  }

  it.each(Object.entries(outages))(
    'that %s: 503 within the deadline, nobody let in, nobody signed out',
    async (how, [begin, end]) => {
      const world = await startOnPostgres()
      await begin()
      const { counts, slowestMs } = await press(world, OUTAGE_MS)
      await end()
      printFigures(`PostgreSQL ${how}`, { ...counts, slowestMs })
      for (const kind of ['live', 'stolen', 'login']) expect(Object.keys(counts[kind] ?? {})).toEqual(['503'])
      expect(slowestMs).toBeLessThan(PATIENCE_MS)
      await expectAsBefore(world)
    },
  )

  it('that is slow, and within the deadline, serves on', async () => {
    const world = await startOnPostgres()
    proxy.set({ kind: 'jitter', ms: 100 })
    const { counts, slowestMs, signedIn } = await press(world, OUTAGE_MS)
    proxy.set({ kind: 'none' })
    printFigures('PostgreSQL is slow', { ...counts, slowestMs })
    expect(counts.live).toEqual({ 200: expect.any(Number) })
    expect(Object.keys(counts.stolen ?? {})).toEqual(['401'])
    expect(signedIn.length).toBeGreaterThan(0)
    await expectAsBefore(world)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['loses replies', async () => proxy.set({ kind: 'lost reply' })],
    [
      'loses its connections now and then',
      () => server.pool().query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()'),
    ],
    [
      'restarts',
      async () => {
        await server.kill()
        await server.start()
      },
    ],
    [
      'locks the table',
      async () => {
        const client = await server.pool({ max: 1 }).connect()
        await client.query('BEGIN; LOCK TABLE sessmgr IN ACCESS EXCLUSIVE MODE')
        await sleep(1500)
        await client.query('COMMIT')
        client.release()
      },
    ],
  ])('that %s under load: 200 or 503 for a live session, never 200 for an ended one', async (how, disturb) => {
    const world = await startOnPostgres()
    const end = performance.now() + OUTAGE_MS
    const disturbing = (async () => {
      while (performance.now() < end) {
        await sleep(200)
        await disturb()
        await sleep(200)
        proxy.set({ kind: 'none' })
      }
    })()
    const { counts, slowestMs } = await press(world, OUTAGE_MS)
    await disturbing
    printFigures(`PostgreSQL ${how}`, { ...counts, slowestMs })
    expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(counts.live ?? {})))
    expect(['401', '503']).toEqual(expect.arrayContaining(Object.keys(counts.stolen ?? {})))
    expect(['204', '200', '503']).toEqual(expect.arrayContaining(Object.keys(counts.login ?? {})))
    expect(counts.live?.[503]).toBeGreaterThan(0)
    await expectAsBefore(world)
  })

  it(`loses no confirmed end of a session in ${CYCLES} kills`, async () => {
    const host = await startDatabaseHost(openOnPostgres(server.pool()), { maximum: 1 })
    onTestFinished(host.stop)
    const cuts: PowerCut[] = []
    for (let cycle = 0; cycle < CYCLES; cycle++)
      cuts.push(await cutPower(host, { kill: server.kill, restart: server.start }, 60))
    const sum = (key: keyof PowerCut) => cuts.reduce((total, cut) => total + cut[key], 0)
    const [confirmed, unconfirmed, revived] = [sum('confirmed'), sum('unconfirmed'), sum('revived')]
    printFigures('kills of PostgreSQL', { confirmed, unconfirmed, revived })
    expect(revived).toBe(0)
    expect(confirmed).toBeGreaterThan(CYCLES)
    expect(unconfirmed).toBeGreaterThan(0)
  })
})

/** Makes a disk of two megabytes, if this machine allows it. */
function mountSmallDisk(): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), 'sessmgr-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk])
  if (status === 0) return disk
  rmSync(disk, { recursive: true })
  return undefined
}

/** Writes a file until the disk is full. */
function fill(disk: string): void {
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      for (let n = 0; ; n++) writeFileSync(join(disk, `filler-${size}-${n}`), Buffer.alloc(size))
    } catch {
      // Smaller ones may still fit.
    }
  }
}

const disk = mountSmallDisk()
afterAll(() => {
  if (disk === undefined) return
  spawnSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true, force: true })
})

describe.skipIf(disk === undefined)('a full disk', () => {
  const small = disk ?? ''
  const free = () => spawnSync('sh', ['-c', `rm -f ${small}/filler-*`])

  /** Expects that logins are refused with 503 at last, and that all others are served or asked to come back. */
  async function expectBorne(world: World, how: string): Promise<void> {
    fill(small)
    const logins = await inParallel(300, 10, async (n) => {
      const browser = world.host.browser()
      const { status } = await browser.login(`user${n}`)
      return { status, me: status < 300 ? await browser.me() : undefined }
    })
    const { counts, slowestMs } = await press(world, 1000)
    printFigures(how, { logins: countBy(logins.map(({ status }) => status)), ...counts, slowestMs })
    expect(['204', '200', '503']).toEqual(
      expect.arrayContaining(Object.keys(countBy(logins.map(({ status }) => status)))),
    )
    expect(logins.filter(({ status, me }) => status < 300 && me !== 200 && me !== 503)).toEqual([])
    expect(logins.some(({ status }) => status === 503)).toBe(true)
    expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(counts.live ?? {})))
    expect(['401', '503']).toEqual(expect.arrayContaining(Object.keys(counts.stolen ?? {})))
    free()
    await expectAsBefore(world)
  }

  it('of PostgreSQL lets nobody in, and signs nobody out', async () => {
    const place = join(small, 'tablespace')
    mkdirSync(place)
    const owner = statSync(join(server.host, 'data'))
    chownSync(place, owner.uid, owner.gid)
    const world = await startOnPostgres()
    const pool = server.pool()
    await pool.query(`CREATE TABLESPACE small LOCATION '${place}'`)
    for (const table of ['sessmgr', 'session']) await pool.query(`ALTER TABLE ${table} SET TABLESPACE small`)
    await expectBorne(world, 'a full disk of PostgreSQL')
    for (const table of ['sessmgr', 'session']) await pool.query(`ALTER TABLE ${table} SET TABLESPACE pg_default`)
    await pool.query('DROP TABLESPACE small')
  })

  it('of SQLite lets nobody in, and signs nobody out', async () => {
    const world = await startWorld(await startDatabaseHost(openOnSqlite(join(small, 'sessmgr.db'))))
    await expectBorne(world, 'a full disk of SQLite')
  })
})

describe.each(Object.entries(SQLITE_ENGINES))('SQLite on %s', (name, Database) => {
  it('that another process keeps locked: live sessions are served, logins get 503, nobody is let in', async () => {
    const path = join(directory, `${name.replace(':', '-')}.db`)
    const world = await startWorld(await startDatabaseHost(openOnSqlite(path)))
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const { counts, slowestMs } = await press(world, OUTAGE_MS)
    other.exec('COMMIT')
    other.close()
    printFigures('SQLite is locked', { ...counts, slowestMs })
    // A login has several calls, of which each waits.
    expect(slowestMs).toBeLessThan(4 * PATIENCE_MS)
    expect(['200', '503']).toEqual(expect.arrayContaining(Object.keys(counts.live ?? {})))
    expect(['401', '503']).toEqual(expect.arrayContaining(Object.keys(counts.stolen ?? {})))
    expect(['503', '500']).toEqual(expect.arrayContaining(Object.keys(counts.login ?? {})))
    await expectAsBefore(world)
  })
})
