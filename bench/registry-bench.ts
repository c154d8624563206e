import { createClient } from 'redis'
import { sessmgr, tokenOf } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { redisStore } from 'sessmgr/redis'
import type { SessmgrStore } from '../src/stores/store.ts'
import { startRedis } from './processes.ts'
import { judged, type Report } from './report.ts'
import { median, timesInTurns, withQuartiles } from './statistics.ts'

const MANY = 1_000_000
const FEW = 1000
const SAMPLES = 6000
/** Medians of this many samples are compared, to see how much they vary. */
const SERIES = 300
const BATCH = 500
/** Sessions whose next request follows a site-wide logout. */
const RETURNS = 100_000
export const USER_AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

const connect = (url: string) => createClient({ url, commandOptions: { timeout: undefined } }).connect()

type Client = Awaited<ReturnType<typeof connect>>

/** Measures the registry in Redis, small and with a million sessions. */
export async function registryBench(report: Report, effort: number): Promise<void> {
  const all = Math.max(10_000, MANY * Math.min(1, effort))
  const client = await connect((await startRedis()).url)
  const store = redisStore({ client }) as SessmgrStore

  const empty = await usedMemory(client)
  await fill(store, 0, FEW, 1)
  const few = await measure(client, store)
  await fill(store, FEW, all, 1)
  const perSession = ((await usedMemory(client)) - empty) / all
  const many = await measure(client, store)
  const logout = await siteLogout(client, store)
  const returns = await returnAll(client, store, FEW, Math.min(all, FEW + RETURNS))

  await client.flushAll()
  const base = await usedMemory(client)
  await fill(store, 0, 90_000, 3)
  const ofThree = ((await usedMemory(client)) - base) / 90_000
  client.destroy()

  const sessions = all.toLocaleString('en')
  const samples = `${SAMPLES.toLocaleString('en')} of each, in turns`
  const growth = many.admission / few.admission
  report.heading('The registry in Redis')
  report.table([
    ['', 'value', 'goal', 'samples'],
    ...[few, many].map(({ admission, get, ratio, series }, index) => [
      `admission p50 ÷ one GET p50, ${index === 0 ? '1,000' : sessions} sessions`,
      `${withQuartiles(ratio, series)}: ${(admission * 1000).toFixed(0)} µs ÷ ${(get * 1000).toFixed(0)} µs`,
      judged(ratio, { atMost: 3 }),
      samples,
    ]),
    [`admission p50, ${sessions} sessions ÷ 1,000`, growth.toFixed(2), judged(growth, { atMost: 1.2 }), samples],
    [
      'Redis memory per session, one for each user',
      `${perSession.toFixed(0)} B`,
      judged(perSession, { atMost: 300 }),
      sessions,
    ],
    ['Redis memory per session, three for each user', `${ofThree.toFixed(0)} B`, '', '90,000'],
    [
      `site-wide logout of ${sessions} sessions`,
      `${logout.first.toFixed(2)} ms, p50 of 100 more ${logout.more.toFixed(2)} ms, ${logout.scans}`,
      judged(logout.first, { atMost: 5 }),
      '101',
    ],
    [
      `next requests of ${returns.count} sessions after it`,
      `${returns.sent} commands each, ${returns.all} with those in scripts; ${returns.seconds.toFixed(1)} s of Redis' CPU`,
      judged(returns.sent, { atMost: 4 }),
      returns.count,
    ],
  ])
}

/** Makes the store calls of a login: reads the sessions, the epoch and the settings at once, then commits. */
export async function admit(
  store: SessmgrStore,
  userId: number | string,
  sessionId: string,
  maximum = 3,
): Promise<void> {
  const [read, { generation }] = await Promise.all([
    store.sessions.read(userId),
    store.epoch.current(),
    store.options.get('sessmgr_settings'),
  ])
  const { sessions } = read
  const end = sessions.slice(0, Math.max(0, sessions.length - maximum + 1)).map(({ record }) => record.token)
  const admit = {
    sessionId,
    ttlMs: 2 * 24 * 60 * 60_000,
    ip: '203.0.113.77',
    userAgent: USER_AGENT,
    device: null,
    generation,
  }
  const { committed } = await store.sessions.commit(userId, read, { admit, end })
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
  const runs = {
    get: () => client.get('yardstick'),
    admission: (index: number) => admit(store, index % FEW, sessionIdOf(`${performance.now()} ${index}`)),
  }
  await timesInTurns(SERIES, runs)
  const times = await timesInTurns(SAMPLES, runs)
  const series = Array.from({ length: SAMPLES / SERIES }, (_, place) => {
    const part = (all: readonly number[]) => median(all.slice(place * SERIES, (place + 1) * SERIES))
    return part(times.admission) / part(times.get)
  })
  const [admission, get] = [median(times.admission), median(times.get)]
  return { admission, get, ratio: admission / get, series }
}

async function siteLogout(client: Client, store: SessmgrStore) {
  await client.configResetStat()
  const advance = () => store.epoch.advance()
  const [first = 0, ...more] = (await timesInTurns(101, { advance })).advance
  const commands = await client.info('commandstats')
  const scans = /cmdstat_(keys|scan)/.test(commands) ? 'KEYS or SCAN was used' : 'no KEYS, no SCAN'
  return { first, more: median(more), scans }
}

/** Lets the first session of each user return after a site-wide logout: each is refused, and removed. */
async function returnAll(client: Client, store: SessmgrStore, from: number, to: number) {
  const limiter = sessmgr({ store, logger: { warn() {}, error() {} } })
  const calls = explicitCalls(limiter, { exists: () => true, destroy: () => {} })
  const comeBack = async (start: number, end: number) => {
    const users = Array.from({ length: end - start }, (_, index) => start + index)
    const ofUser = (userId: number) => calls.check({ userId, sessionId: sessionIdOf(`${userId}/0`) })
    const states = await Promise.all(users.map(ofUser))
    if (states.some(({ session }) => session)) throw new Error('A session from before the site-wide logout is live.')
  }
  // What a process asks for once.
  await comeBack(from, from + 1)
  await client.configResetStat()
  const before = await busySeconds(client)
  for (let start = from + 1; start < to; start += BATCH) await comeBack(start, Math.min(to, start + BATCH))
  const seconds = (await busySeconds(client)) - before
  const stats = [...(await client.info('commandstats')).matchAll(/cmdstat_(\S+?):calls=(\d+)/g)]
  const count = (of: (command: string) => boolean) =>
    stats.reduce((sum, [, command = '', calls]) => sum + (of(command) ? Number(calls) : 0), 0)
  const [all, sent] = [count(() => true), count((command) => !/^(getrange|set|strlen|time)$/.test(command))]
  await limiter.close()
  const each = (calls: number) => Number((calls / (to - from - 1)).toFixed(1))
  return { count: (to - from - 1).toLocaleString('en'), sent: each(sent), all: each(all), seconds }
}

/** Returns the time for which Redis has used its core. */
async function busySeconds(client: Client): Promise<number> {
  const info = await client.info('cpu')
  return ['user', 'sys'].reduce(
    (sum, kind) => sum + Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(info)?.[1]),
    0,
  )
}

/** Returns a session id as long as those of express-session. */
export function sessionIdOf(seed: string): string {
  return Buffer.from(tokenOf(seed), 'hex').subarray(0, 24).toString('base64url')
}

async function usedMemory(client: Client): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
}
