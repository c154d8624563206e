import { createClient } from 'redis'
import type { SessmgrStore } from 'sessmgr'
import { tokenOf } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
import { median, spread, startRedis, timings } from './support.ts'

const MANY = Number(process.env.BENCH_SESSIONS ?? 1_000_000)
const FEW = 1000
const SAMPLES = 3000
const BATCH = 500
const USER_AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

const connect = (url: string) => createClient({ url, commandOptions: { timeout: undefined } }).connect()

type Client = Awaited<ReturnType<typeof connect>>

/** Measures the registry in Redis, small and with a million sessions. */
export async function registryBench(print: (line: string) => void): Promise<void> {
  const client = await connect((await startRedis()).url)
  const store = redisStore({ client })

  const empty = await usedMemory(client)
  await fill(store, 0, FEW, 1)
  const few = await measure(client, store)
  await fill(store, FEW, MANY, 1)
  const perSession = ((await usedMemory(client)) - empty) / MANY
  const many = await measure(client, store)

  const sessions = MANY.toLocaleString('en')
  print(`admission p50, ${sessions} sessions ÷ 1,000: ${(many.admission / few.admission).toFixed(2)} (goal ≤ 1.2)`)
  for (const [name, { admission, get, noise }] of [
    ['1,000', few],
    [sessions, many],
  ] as const) {
    print(
      `admission p50 ÷ one GET on the same connection, ${name} sessions: ${(admission / get).toFixed(2)} (goal ≤ 3; ` +
        `${(admission * 1000).toFixed(0)} µs ÷ ${(get * 1000).toFixed(0)} µs; GET spread between runs ±${noise.toFixed(0)} %)`,
    )
  }
  print(`Redis memory per live session, one for each user: ${perSession.toFixed(0)} B (goal ≤ 300 B)`)
  await siteLogout(client, store, print)

  await client.flushAll()
  const base = await usedMemory(client)
  await fill(store, 0, 90_000, 3)
  print(
    `Redis memory per live session, three for each user: ${(((await usedMemory(client)) - base) / 90_000).toFixed(0)} B`,
  )
  client.destroy()
}

/** What a login asks of the store: the sessions, the epoch and the settings at once, then the commit. */
async function admit(store: SessmgrStore, userId: number, sessionId: string): Promise<void> {
  const [{ version, sessions }, generation] = await Promise.all([
    store.sessions.read(userId),
    store.epoch.current(),
    store.options.get('sessmgr_settings'),
  ])
  const end = sessions.slice(0, Math.max(0, sessions.length - 2)).map(({ record }) => record.token)
  const admit = { sessionId, ttlMs: 2 * 24 * 60 * 60_000, ip: '203.0.113.77', userAgent: USER_AGENT, generation }
  const { committed } = await store.sessions.commit(userId, version, { admit, end })
  if (!committed) throw new Error('A login met a conflict although nobody else logs in.')
}

async function fill(store: SessmgrStore, from: number, to: number, perUser: number): Promise<void> {
  for (let start = from; start < to; start += BATCH * perUser) {
    for (let turn = 0; turn < perUser; turn++) {
      const count = Math.min(BATCH, Math.ceil((to - start) / perUser))
      await Promise.all(
        Array.from({ length: count }, (_, index) => {
          const userId = start + index * perUser
          return admit(store, userId, sessionIdOf(`${userId}/${turn}`))
        }),
      )
    }
  }
}

async function measure(client: Client, store: SessmgrStore) {
  await client.set('yardstick', 'x'.repeat(100))
  const get = () => client.get('yardstick')
  await timings(SAMPLES, get)
  const before = median(await timings(SAMPLES, get))
  const admission = median(
    await timings(SAMPLES, (index) => admit(store, index % FEW, sessionIdOf(`${performance.now()} ${index}`))),
  )
  const after = median(await timings(SAMPLES, get))
  return { admission, get: (before + after) / 2, noise: spread([before, after]) }
}

async function siteLogout(client: Client, store: SessmgrStore, print: (line: string) => void): Promise<void> {
  await client.configResetStat()
  const [time = 0] = await timings(1, () => store.epoch.advance())
  const more = await timings(100, () => store.epoch.advance())
  const commands = await client.info('commandstats')
  const scans = /cmdstat_(keys|scan)/.test(commands) ? 'KEYS or SCAN was used' : 'no KEYS, no SCAN'
  print(
    `destroy-all with ${MANY.toLocaleString('en')} live sessions: ${time.toFixed(2)} ms, p50 of 100 more ` +
      `${median(more).toFixed(2)} ms, ${scans} (goal ≤ 5 ms)`,
  )
}

/** As long as the ids of express-session are. */
function sessionIdOf(seed: string): string {
  return Buffer.from(tokenOf(seed), 'hex').subarray(0, 24).toString('base64url')
}

async function usedMemory(client: Client): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
}
