import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { sessmgr, tokenOf } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'
import { liveConnections } from 'sessmgr/live'
import { redisStore } from 'sessmgr/redis'
import { startRedis } from './processes.ts'
import { judged, type Report } from './report.ts'
import { quantile } from './statistics.ts'

const SESSIONS = 5000
/** Mean time between two sweeps, by default and while they are measured. */
const [DEFAULT_MS, MEASURED_MS] = [13_500, 900]

/**
 * Measures how long it takes until a connection is closed by a message over Redis, and what the sweeps cost. Two
 * limiters, each with its own connections to Redis, stand for two processes.
 */
export async function liveBench(report: Report, effort: number): Promise<void> {
  const { url } = await startRedis()
  const [here, there] = [await start(url, 3_600_000), await start(url, 1000)]
  const times = await closingTimes(here, there, Math.ceil(2000 * effort))
  const percent = await sweepPercent(here, there, Math.ceil(SESSIONS * effort), 20_000 * effort)
  await here.stop()
  await there.stop()
  report.heading('Open connections')
  report.table([
    ['what', 'measured', 'goal'],
    ['closed by another process, p50', `${quantile(times, 0.5).toFixed(1)} ms`, ''],
    ['closed by another process, p99', `${quantile(times, 0.99).toFixed(1)} ms`, ''],
    ['sweeps of 5,000 sessions, of one core', `${percent.toFixed(2)} %`, judged(percent, { atMost: 5 })],
  ])
}

type Process = Awaited<ReturnType<typeof start>>

const idOf = (userId: number) => `session-${userId}`
const sessionOf = (userId: number) => ({ userId, token: tokenOf(idOf(userId)) })

async function start(url: string, sweepEvery: number) {
  const client = await createClient({ url }).connect()
  const limiter = sessmgr({ store: redisStore({ client }) })
  const live = liveConnections(limiter, { sweepEvery })
  const calls = explicitCalls(limiter, { exists: async () => true, destroy: async () => {} })
  return {
    live,
    login: (userId: number) => calls.login({ userId }, async () => ({ sessionId: idOf(userId), ttlMs: 3_600_000 })),
    end: (userId: number) => limiter.sessions.end(userId, sessionOf(userId).token),
    async stop() {
      await live.close()
      await limiter.close()
      client.destroy()
    },
  }
}

async function closingTimes(here: Process, there: Process, count: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let userId = 0; userId < count; userId++) {
    await here.login(userId)
    const closed = new Promise((resolve) => void there.live.track(sessionOf(userId), resolve))
    const begun = performance.now()
    await here.end(userId)
    await closed
    times.push(performance.now() - begun)
  }
  return times
}

/** Returns the CPU time of the sweeps, in percent of one core, at the default interval. */
async function sweepPercent(here: Process, there: Process, count: number, lastsMs: number): Promise<number> {
  for (let userId = 0; userId < count; userId++) {
    await here.login(userId)
    there.live.track(sessionOf(userId), () => {})
  }
  const before = process.cpuUsage()
  await sleep(lastsMs)
  const { user, system } = process.cpuUsage(before)
  const msPerSweep = ((user + system) / 1000 / lastsMs) * MEASURED_MS
  return ((msPerSweep * SESSIONS) / count / DEFAULT_MS) * 100
}
