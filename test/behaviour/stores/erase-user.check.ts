import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memorySink } from '../../../src/audit.ts'
import { explicitCalls } from '../../../src/explicit.ts'
import type { ErasedUser } from '../../../src/index.ts'
import { type SessmgrStore, sessmgr } from '../../../src/index.ts'
import { postgresStore } from '../../../src/postgres.ts'
import { redisStore } from '../../../src/redis.ts'
import { type CalledProcess, startCalled } from '../../support/called-process.ts'
import { ownFolder } from '../../support/own-folder.ts'
import { startPostgres } from '../../support/postgres-server.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { textOf } from '../../support/redis-rows.ts'
import { startRedis } from '../../support/redis-server.ts'

/** What the processes work on. */
interface ErasingSetup {
  /** A SQLite file, the host of PostgreSQL, or the URL of Redis. */
  readonly place: { readonly path: string } | { readonly host: string } | { readonly url: string }
  /** File of the activity log. @default the place itself */
  readonly lines?: string | undefined
  readonly users: readonly string[]
  readonly processes: number
  readonly secret: string
}

interface Stopped {
  readonly acts: number
  readonly tokens: Readonly<Record<string, readonly string[]>>
}

/** What the processes have done. */
interface ErasingResult {
  readonly erased: ErasedUser
  /** Number of acts per process. */
  readonly acts: readonly number[]
  /** Tokens of all sessions of the erased user. */
  readonly tokens: readonly string[]
  /** Unexpected failures. */
  readonly failures: readonly string[]
}

/**
 * Starts processes that all work on the same users, and erases one user in the first of them, while what the others have
 * begun about that user goes on.
 *
 * @param before Runs when all of them work.
 */
async function eraseInProcesses(
  setup: ErasingSetup,
  user: string,
  before: () => Promise<void>,
): Promise<ErasingResult> {
  const { place, processes: count, ...spec } = setup
  const processes: CalledProcess<{ failed?: string }>[] = []
  try {
    // One after the other, because the first one creates the tables.
    while (processes.length < count) processes.push(await startCalled('erase-process.mjs', { ...place, ...spec }))
    await before()
    await Promise.all(processes.map((one) => one.call('leave', { user })))
    const erased = (await processes[0]?.call<ErasedUser>('erase', { user })) as ErasedUser
    const stopped = await Promise.all(processes.map((one) => one.call<Stopped>('stop')))
    return {
      erased,
      acts: stopped.map(({ acts }) => acts),
      tokens: stopped.flatMap(({ tokens }) => tokens[user] ?? []),
      failures: processes.flatMap(({ told }) => told.flatMap(({ failed = [] }) => failed)),
    }
  } finally {
    await Promise.all(processes.map((one) => one.kill()))
  }
}

const SECRET = 'a secret of the application, 32 characters'
/** In words that appear nowhere else. */
const ALICE = 'alice-liddell'

/** A store that several processes share, and all that is in it. */
interface SharedPlace {
  readonly place: ErasingSetup['place']
  readonly lines?: string
  open(): SessmgrStore
  /** Returns every key and value, row and file, by name. */
  scan(): Promise<ReadonlyMap<string, string>>
}

async function scanRedis(client: NodeRedis): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const read: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => client.get(key),
    zset: (key) => client.zRange(key, 0, -1),
  }
  for (const key of await client.keys('*')) {
    const type = await client.type(key)
    // A key may have expired since.
    const value = (await read[type]?.(key)) ?? null
    if (!(await isEmptiedIn(client, key, value))) found.set(key, JSON.stringify(value))
  }
  return found
}

const PLACES: Readonly<Record<string, () => Promise<SharedPlace>>> = {
  async 'Redis, with JSON lines'() {
    const server = await startRedis()
    const client = await connectRedis(server.url)
    onTestFinished(async () => {
      client.destroy()
      await server.stop()
    })
    const directory = ownFolder()
    return {
      place: { url: server.url },
      lines: join(directory, 'audit-{date}.jsonl'),
      open: () => redisStore({ client }),
      async scan() {
        const found = new Map(await scanRedis(client))
        for (const file of readdirSync(directory)) found.set(file, readFileSync(join(directory, file), 'latin1'))
        return found
      },
    }
  },
  async PostgreSQL() {
    const server = await startPostgres()
    const pool = new pg.Pool({ host: server.host, user: 'test', database: 'postgres', max: 5 })
    pool.on('error', () => {})
    onTestFinished(async () => {
      await pool.end()
      await server.stop()
    })
    return {
      place: { host: server.host },
      open: () => postgresStore({ pool }),
      async scan() {
        const rows = async (table: string) =>
          (await pool.query(`SELECT row_to_json(t)::text AS text FROM ${table} t`)).rows
        const all = [...(await rows('sessmgr')), ...(await rows('sessmgr_audit'))]
        return new Map(all.map(({ text }, index) => [`row ${index}`, String(text)]))
      },
    }
  },
}

/** Checks whether a row in Redis is emptied, and how long it stays. */
async function isEmptiedIn(client: NodeRedis, key: string, value: unknown): Promise<boolean> {
  const mostMs = mostLeft(textOf(String(value)) ?? '-')
  return mostMs !== undefined && (await client.pTTL(key)) <= mostMs
}

/** Checks whether a row of a table is emptied, and how long it stays. */
function isEmptied(text: string): boolean {
  if (!text.includes('"body":')) return false
  const { body, expires_at } = JSON.parse(text) as { body: string; expires_at: number }
  const mostMs = mostLeft(body)
  return mostMs !== undefined && expires_at > 0 && expires_at <= Date.now() + mostMs
}

/** Twice the deadline of the processes that write. */
const QUIET_MS = 10_000

/** Returns how long a row may stay: an erased user's for twice the deadline, a deleted one for ten minutes. */
function mostLeft(body: string): number | undefined {
  if (body === '') return 600_000
  return /^\{"s":\[\],"x":\[\d+,10000\]\}$/.test(body) ? QUIET_MS : undefined
}

/** Returns what names the user: everything that contains a word of theirs, or a part of a token. */
function tracesIn(all: ReadonlyMap<string, string>, words: readonly string[], tokens: ReadonlySet<string>): string[] {
  return [...all].flatMap(([name, text]) => {
    if (isEmptied(text)) return []
    const whole = `${name} ${text}`
    const parts = whole.match(/[0-9a-f]{16,}/g) ?? []
    const isNamed = words.some((word) => whole.includes(word)) || parts.some((part) => tokens.has(part.slice(0, 16)))
    return isNamed ? [whole.slice(0, 300)] : []
  })
}

describe('the erasure of a user, while four processes write', () => {
  it.each(Object.keys(PLACES))('rule 63: leaves nothing that names them in %s', async (name) => {
    const { place, lines, open, scan } = await (PLACES[name] as () => Promise<SharedPlace>)()
    const setup = { place, lines, users: [ALICE, 'bob', 'carol', 'dave'], processes: 4, secret: SECRET }
    const { erased, acts, tokens, failures } = await eraseInProcesses(setup, ALICE, async () => {
      // Until it is known that the scan finds the user in the store and in the activity log.
      const isRecorded = (line: string) => line.includes('session.started') && line.includes(ALICE)
      for (let all = ''; all.split(ALICE).length < 20 || !all.split('\n').some(isRecorded); await sleep(100)) {
        all = [...(await scan())].join('\n')
      }
    })
    expect(failures).toEqual([])
    // Another process may have deleted all of them before.
    expect(erased.events).not.toBeNull()
    for (const count of acts) expect(count).toBeGreaterThan(0)
    const own = new Set(tokens.map((token) => token.slice(0, 16)))
    expect(own.size).toBeGreaterThan(3)
    expect(tracesIn(await scan(), [ALICE], own)).toEqual([])

    // Someone who signs up with the same id later is a new user.
    await sleep(QUIET_MS)
    const limiter = sessmgr({ store: open(), secret: SECRET, directory: true, audit: { sink: memorySink() } })
    const calls = explicitCalls(limiter, { exists: async () => true, destroy: async () => {} })
    const admission = await calls.login({ userId: ALICE }, async () => ({ sessionId: 'new', ttlMs: 60_000 }))
    expect(admission.admitted).toBe(true)
    expect((await calls.check({ userId: ALICE, sessionId: 'new' })).session).toBeTruthy()
    expect(await limiter.sessions.count(ALICE)).toBe(1)
    // A session of the erased user that the registry does not know stays over.
    expect((await calls.adopt({ userId: ALICE, sessionId: 'dormant', ttlMs: 60_000 })).session).toBeUndefined()
    await limiter.close()
  })
})
