import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { memoryStore, type SessmgrStore, sessmgr, tokenOf } from '../../src/index.ts'
import { type Refreshed, type TokenClaims, tokenSessions } from '../../src/jwt.ts'
import { liveConnections } from '../../src/live.ts'
import { postgresStore } from '../../src/postgres.ts'
import { redisStore } from '../../src/redis.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { type CalledProcess, startCalled } from '../support/called-process.ts'
import { startFailover } from '../support/failover-redis.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { printFigures } from '../support/print-figures.ts'
import { ENDS, raceRefreshes } from '../support/race-refreshes.ts'
import { connectRedis } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { highestWhile } from '../support/watch-count.ts'

const ROUNDS = 1000
const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']
const sign = (claims: TokenClaims) => claims

let postgres: PostgresServer
let redis: RedisServer
let client: Awaited<ReturnType<typeof connectRedis>>
let directory: string
let postgresData: () => SessmgrStore
beforeAll(async () => {
  ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  client = await connectRedis(redis.url)
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-tokens-'))
  const pool = postgres.pool()
  postgresData = () => postgresStore({ pool, createTable: true })
})
afterAll(async () => {
  client?.destroy()
  await Promise.all([postgres?.stop(), redis?.stop()])
  rmSync(directory, { recursive: true, force: true })
})

const PLACES = {
  Redis: () => ({ place: { url: redis.url }, open: () => redisStore({ client }) }),
  PostgreSQL: () => ({ place: { host: postgres.host }, open: postgresData }),
  SQLite: () => {
    const path = join(directory, 'sessmgr.db')
    return { place: { path }, open: () => sqliteStore({ path }) }
  },
}

async function processes(count: number, options: object): Promise<readonly CalledProcess[]> {
  const all = await Promise.all(Array.from({ length: count }, () => startCalled('token-process.mjs', options)))
  onTestFinished(async () => void (await Promise.all(all.map((one) => one.kill()))))
  return all
}

interface Logins {
  readonly claims: readonly TokenClaims[]
  readonly refused: number
  readonly failed: readonly string[]
}

describe.each(Object.entries(PLACES))('token sessions on %s', (name, at) => {
  for (const logic of MODES) {
    it(`are never over the limit in 8 processes with 200 logins each, ${logic}`, async () => {
      const { place, open } = at()
      const userId = `${logic} of ${name}`
      const settings = { maximum: 3, logic }
      const limiter = sessmgr({ store: open(), settings })
      const tokens = tokenSessions(limiter)
      const all = await processes(8, { ...place, settings })
      const count = async () => (await limiter.sessions.list(userId)).length
      const logIn = () => Promise.all(all.map((one) => one.call<Logins>('login', { userId, times: 200 })))
      const { result: outcomes, highest: most } = await highestWhile(count, logIn, () => sleep(10))
      const claims = outcomes.flatMap((one) => one.claims)
      const states = await Promise.all(claims.map((one) => tokens.check(one)))
      const live = states.filter(({ session }) => session).length
      const refused = outcomes.reduce((sum, one) => sum + one.refused, 0)
      const failed = outcomes.flatMap((one) => one.failed)
      printFigures(`${name}, ${logic}`, { most, live, admitted: claims.length, refused, failed: failed.length })
      expect(most).toBeLessThanOrEqual(3)
      expect(live).toBe(logic === 'allow' ? await limiter.sessions.count(userId) : 3)
      expect(claims.length + refused + failed.length).toBe(1600)
      expect(failed.every((code) => code === 'login_conflict' || code === 'store_unavailable')).toBe(true)
    })
  }

  it('rotate once for 50 parallel refreshes over 3 busy processes, and sign nobody out', async () => {
    const { place, open } = at()
    const settings = { maximum: 3, logic: 'logout_oldest' }
    const limiter = sessmgr({ store: open(), settings })
    const tokens = tokenSessions(limiter)
    const all = await processes(3, { ...place, settings, loadMs: 40 })
    const userId = `busy on ${name}`
    const admission = await tokens.login({ userId }, sign)
    let claims = admission.admitted ? admission.tokens : undefined
    let slowest = 0
    for (let round = 0; claims && round < 20; round++) {
      const from = performance.now()
      const shares = [17, 17, 16]
      const given = await Promise.all(
        all.map((one, index) => one.call<Refreshed<TokenClaims>[]>('refresh', { claims, times: shares[index] })),
      )
      slowest = Math.max(slowest, performance.now() - from)
      const answers = given.flat()
      expect(answers).toHaveLength(50)
      expect(answers.filter((one) => one.live && !one.repeated)).toHaveLength(1)
      expect(new Set(answers.map((one) => JSON.stringify(one.live && one.tokens))).size).toBe(1)
      expect(await limiter.sessions.count(userId)).toBe(1)
      claims = answers[0]?.live ? answers[0].tokens : undefined
    }
    expect(claims?.rot).toBe(20)
    printFigures(`${name}, 50 refreshes in 3 busy processes`, { slowestMs: slowest })
  })

  it('stay signed in if a process is killed between the rotation and the signature', async () => {
    const { place, open } = at()
    const tokens = tokenSessions(sessmgr({ store: open() }))
    const admission = await tokens.login({ userId: `killed on ${name}` }, sign)
    if (!admission.admitted) throw new Error(admission.message)
    const [killed] = await processes(1, place)
    expect(await killed?.call('hang', { claims: admission.tokens })).toBe('rotated')
    await killed?.kill()
    const again = await tokens.refresh(admission.tokens, sign)
    expect(again).toMatchObject({ live: true, repeated: true, tokens: { rot: 1 } })
    expect(again.live && (await tokens.refresh(again.tokens, sign))).toMatchObject({ live: true, repeated: false })
  })

  for (const kind of Object.keys(ENDS)) {
    it(`bring nothing back in ${ROUNDS} refreshes that race the end: ${kind}`, async () => {
      const figures = await raceRefreshes(at().open, kind, ROUNDS)
      printFigures(`${name}, ${kind}`, figures)
      expect(figures.live).toBe(0)
    })
  }
})

it.each(Object.keys(ENDS))(
  `in memory, nothing comes back in ${ROUNDS} refreshes that race the end: %s`,
  async (kind) => {
    const store = memoryStore()
    expect((await raceRefreshes(() => store, kind, ROUNDS)).live).toBe(0)
  },
)

it('a failover that loses rotations signs nobody out', async () => {
  const servers = await startFailover()
  onTestFinished(() => servers.stop())
  const own = await connectRedis(`redis://127.0.0.1:${servers.early.port}`)
  onTestFinished(() => own.destroy())
  const tokens = tokenSessions(sessmgr({ store: redisStore({ client: own }), logger: { warn() {}, error() {} } }))
  const admission = await tokens.login({ userId: 'ada' }, sign)
  if (!admission.admitted) throw new Error(admission.message)
  const refresh = async (claims: TokenClaims) => {
    for (;;) {
      const refreshed = await tokens.refresh(claims, sign).catch(() => undefined)
      if (refreshed && !refreshed.live) throw new Error('signed out')
      if (refreshed) return refreshed.tokens
    }
  }
  const first = await refresh(admission.tokens)
  await own.sendCommand(['WAIT', '1', '1000'])
  await servers.detach()
  const lost = await refresh(await refresh(first))
  await servers.failOver('the primary dies')
  const after = await refresh(lost)
  expect([lost.rot, after.rot]).toEqual([3, 4])
  expect((await refresh(lost)).rot).toBe(4)
  expect((await refresh(after)).rot).toBe(5)
})

it('a check from memory follows ends by another process within 50 ms', async () => {
  const [ender] = await processes(1, { url: redis.url })
  const limiter = sessmgr({ store: redisStore({ client }), settings: { maximum: 1000 } })
  const live = liveConnections(limiter)
  onTestFinished(() => live.close())
  const tokens = tokenSessions(limiter, { live })
  const late: number[] = []
  for (let round = 0; round < 200; round++) {
    const admission = await tokens.login({ userId: 'late' }, sign)
    if (!admission.admitted) throw new Error(admission.message)
    const { sid } = admission.tokens
    const isLive = async () => (await tokens.check(admission.tokens)).session !== undefined
    expect([await isLive(), await isLive()]).toEqual([true, true])
    let seen = 0
    const ending = ender?.call<number>('end', { userId: 'late', sid })
    while (seen === 0) {
      if (await isLive()) await new Promise((resolve) => setImmediate(resolve))
      else seen = Date.now()
    }
    late.push(seen - ((await ending) ?? 0))
  }
  late.sort((a, b) => a - b)
  printFigures('ends by another process, in ms', { p50: late[100], p99: late[197], most: late[199] })
  expect(late[197]).toBeLessThan(50)
})

it('a check from memory takes at most 10 µs', async () => {
  const limiter = sessmgr()
  const live = liveConnections(limiter)
  onTestFinished(() => live.close())
  const tokens = tokenSessions(limiter, { live })
  const admission = await tokens.login({ userId: 'ada' }, sign)
  if (!admission.admitted) throw new Error(admission.message)
  expect(tokenOf(admission.tokens.sid)).toBe(admission.session.token)
  const times: number[] = []
  for (let batch = 0; batch < 50; batch++) {
    const from = performance.now()
    for (let index = 0; index < 2000; index++) await tokens.check(admission.tokens)
    times.push(((performance.now() - from) * 1000) / 2000)
  }
  times.sort((a, b) => a - b)
  printFigures('a check from memory, in µs', { p50: times[25], most: times[49] })
  expect(times[25]).toBeLessThan(10)
})
