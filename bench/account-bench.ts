import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { redisStore } from 'sessmgr/redis'
import { encodeSession } from '../src/stores/redis/registry/session-codec.ts'
import { startRedis } from './processes.ts'
import type { Report } from './report.ts'

const USER = 'busy'
const COUNTS = [2000, 20_000, 100_000]
const OPERATIONS = ['bypassed login', 'login at the limit', 'list', 'count', 'endAll'] as const

const connect = (url: string) => createClient({ url, commandOptions: { timeout: undefined } }).connect()
type Client = Awaited<ReturnType<typeof connect>>

/** Measures an account with very many sessions: what it costs, and what it costs all other users. */
export async function accountBench(report: Report, effort: number): Promise<void> {
  const client = await connect((await startRedis()).url)
  const rows = [['sessions of one account', ...OPERATIONS]]
  for (const count of COUNTS.filter((each) => each <= 100_000 * effort)) {
    const row = [count.toLocaleString('en')]
    for (const operation of OPERATIONS) {
      await client.flushAll()
      await fill(client, count)
      await sleep(200)
      row.push(await measure(client, operation))
    }
    rows.push(row)
  }
  client.destroy()
  report.heading('An account with very many sessions')
  report.table(rows)
  report.note('\nHow long the call takes, and the slowest request of another user in the meantime.')
}

async function measure(client: Client, operation: string): Promise<string> {
  const store = redisStore({ client })
  const limiter = sessmgr({ store, settings: { maximum: 1 }, logger: { warn() {}, error() {} } })
  const calls = explicitCalls(limiter, {
    exists: (id) => client.exists(`sess:${id}`),
    destroy: (id) => client.del(`sess:${id}`),
  })
  const login = (userId: string) =>
    calls.login({ userId, ip: null, userAgent: null }, async () => {
      const sessionId = `s${Math.random()}`
      await client.set(`sess:${sessionId}`, '{}')
      return { sessionId, ttlMs: 3_600_000 }
    })
  if (operation === 'bypassed login') limiter.hooks.addFilter('sessmgr_bypass', 'bench', (_, user) => user === USER)
  await login('other')
  const [other] = await store.sessions.read('other').then(({ sessions }) => sessions)
  let running = true
  let slowest = 0
  const probe = (async () => {
    while (running) {
      const start = performance.now()
      await calls.check({ userId: 'other', sessionId: other?.sessionId ?? '' }).catch(() => {})
      slowest = Math.max(slowest, performance.now() - start)
      await sleep(2)
    }
  })()
  await sleep(100)
  slowest = 0
  const start = performance.now()
  const run: Record<string, () => Promise<unknown>> = {
    list: () => limiter.sessions.list(USER),
    count: () => limiter.sessions.count(USER),
    endAll: () => limiter.sessions.endAll(USER),
  }
  const outcome = await (run[operation] ?? (() => login(USER)))().then(
    (value) => (Array.isArray(value) ? `${value.length} listed` : typeof value === 'number' ? String(value) : 'done'),
    (error: { code?: string }) => String(error.code ?? error),
  )
  const took = performance.now() - start
  await sleep(50)
  running = false
  await probe
  return `${took.toFixed(0)} ms (${outcome}); ${slowest.toFixed(0)} ms`
}

/** Writes sessions in the way of an earlier version, which had no limit per user. */
async function fill(client: Client, count: number): Promise<void> {
  const now = Date.now()
  for (let first = 0; first < count; first += 1000) {
    const fields: Record<string, string> = {}
    const batch = client.multi()
    for (let index = first; index < Math.min(first + 1000, count); index++) {
      const sessionId = `session-${index}-of-the-busy-account`
      const session = { sessionId, ttlMs: 3_600_000, ip: '192.0.2.1', userAgent: 'bench', device: null, generation: 0 }
      const [name = '', ttl = '', rest = '', info = ''] = encodeSession(USER, session)
      fields[name] = `${(now - count + index).toString(16)},0,${ttl},${rest}`
      fields[`i${name}`] = info
      batch.set(`sess:${sessionId}`, '{}')
    }
    batch.hSet(`sessmgr:{${USER}}:s`, { ...fields, v: now.toString(16) })
    await batch.exec()
  }
}
