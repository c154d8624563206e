import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SessmgrStore } from '../../../src/index.ts'
import { postgresStore } from '../../../src/postgres.ts'
import { redisStore } from '../../../src/redis.ts'
import { tableSchema } from '../../../src/stores/document/table-schema.ts'
import { Browser } from '../../support/browser.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { useRedis } from '../../support/use-redis.ts'

const program = join(import.meta.dirname, '../../support/one-request-process.mjs')
const LOGINS = 5

const redis = useRedis()
let postgres: PostgresServer
let directory: string
let events: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-serverless-'))
  postgres = await startPostgres()
  const table = createRequire(import.meta.url).resolve('connect-pg-simple/table.sql')
  const pool = postgres.pool()
  for (const statement of [...tableSchema('postgres', 'sessmgr'), readFileSync(table, 'utf8')]) {
    await pool.query(statement)
  }
})
beforeEach(async () => {
  events = join(mkdtempSync(join(directory, 'events-')), 'activity.jsonl')
  await postgres.pool().query('TRUNCATE sessmgr, session')
})
afterAll(async () => {
  await postgres?.stop()
  rmSync(directory, { recursive: true, force: true })
})

interface Instance {
  readonly child: ChildProcess
  readonly origin: string
}

/** Starts a process that serves one request. */
async function start(setup: object): Promise<Instance> {
  const child = fork(program, { env: { ...process.env, SETUP: JSON.stringify({ events, ...setup }) } })
  const [{ origin }] = (await once(child, 'message')) as [{ origin: string }]
  return { child, origin }
}

/** Sends a request of a browser to a process of its own, and resolves once the process has ended. */
async function request(browser: Browser, path: string, setup: object): Promise<number> {
  const { child, origin } = await start(setup)
  const ended = once(child, 'exit')
  const visit = browser.copy(origin)
  const { status } = await visit.request(path === '/me' ? 'GET' : 'POST', path, {})
  for (const [name, cookie] of visit.cookies) browser.cookies.set(name, cookie)
  await ended
  return status
}

function recorded(): readonly { type: string }[] {
  return readFileSync(events, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const STORES: Readonly<Record<string, () => { setup: object; store: SessmgrStore }>> = {
  Redis: () => ({ setup: { url: redis.server.url }, store: redisStore({ client: redis.client, tracking: false }) }),
  PostgreSQL: () => ({ setup: { host: postgres.host }, store: postgresStore({ pool: postgres.pool() }) }),
}

describe.each(Object.keys(STORES))('a process for each request, on %s', (name) => {
  let setup: object
  let store: SessmgrStore
  beforeEach(() => {
    ;({ setup, store } = (STORES[name] as (typeof STORES)[string])())
  })

  it('keeps the limit and sign-outs, and records every login, although each is frozen with its response', async () => {
    const frozen = { ...setup, isFrozen: true, mode: 'before' }
    const browsers = Array.from({ length: LOGINS }, () => new Browser(''))
    const logins = await Promise.all(browsers.map((browser) => request(browser, '/login', frozen)))
    expect(logins).toEqual(browsers.map(() => 204))
    expect(recorded().filter(({ type }) => type === 'session.started')).toHaveLength(LOGINS)

    const states = () => Promise.all(browsers.map((browser) => request(browser, '/me', frozen)))
    const live = (await states()).flatMap((status, place) => (status === 200 ? [browsers[place] as Browser] : []))
    expect(live).toHaveLength(2)
    const [one] = live as [Browser]
    const copy = one.copy('')
    expect(await request(one, '/logout', frozen)).toBe(204)
    expect(await request(copy, '/me', frozen)).toBe(401)
  })

  it('loses nothing that it writes after its response if it closes the limiter, and ends on its own', async () => {
    const browser = new Browser('')
    expect(await request(browser, '/login', setup)).toBe(204)
    expect(recorded().map(({ type }) => type)).toContain('session.started')
    const { sessions } = store
    const usedAt = async () => (await sessions.read('alice')).sessions[0]?.record.lastSeenAt
    const before = Number(await usedAt())
    expect(await request(browser, '/me', setup)).toBe(200)
    expect(Number(await usedAt())).toBeGreaterThan(before)
  })
})

it('needs one connection to Redis', async () => {
  const count = async () =>
    String(await redis.client.sendCommand(['CLIENT', 'LIST']))
      .trim()
      .split('\n').length
  const before = await count()
  const { child, origin } = await start({ url: redis.server.url, isFrozen: true })
  const ended = once(child, 'exit')
  expect((await count()) - before).toBe(1)
  await new Browser(origin).post('/login')
  await ended
})
