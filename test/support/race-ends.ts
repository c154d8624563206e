import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { explicitCalls } from '../../src/explicit.ts'
import { sessmgr, tokenOf } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import { type Disturbance, disturb, disturbRedis, now } from './disturb-redis.ts'
import { type Failover, startFailover } from './failover-redis.ts'
import { inParallel } from './in-parallel.ts'
import { connectRedis } from './redis-client.ts'
import { startRedis } from './redis-server.ts'
import { startProxy } from './tcp-proxy.ts'

/** What ends sessions. */
export type Ending = 'end' | 'end all' | 'end others' | 'displacement' | 'site-wide logout'

export const ENDINGS: readonly Ending[] = ['end', 'end all', 'end others', 'displacement', 'site-wide logout']

/** Conditions of a race between ends and requests. */
export interface RaceOptions {
  /** How many milliseconds late each chunk between Redis and the serving process may arrive, in order. */
  readonly jitterMs?: number
  /** A disturbance that is repeated, at most a second apart. */
  readonly disturbance?: Disturbance | undefined
  /** How the server is repeatedly replaced by its replica. */
  readonly failover?: Failover | undefined
  readonly redis?: readonly string[]
  /**
   * Reads sessions over another connection than the one that reports changes, to show that the race detects this flaw.
   */
  readonly isFlawed?: boolean
}

/** The results of requests for sessions that were being ended. */
export interface RaceFigures {
  readonly trials: number
  /** Number of reads that began after the end was confirmed, and of those that found the session live. */
  readonly after: number
  readonly live: number
  /** Number of sessions that were found live by a read that began after another read had found them ended. */
  readonly revived: number
  /** Number of reads that requested only the session. */
  readonly confirmed: number
  readonly errors: number
  /** Number of ends that were not confirmed. */
  readonly failed: number
  readonly disturbances: number
}

type Read = readonly [begun: number, done: number, outcome: 'live' | 'over' | 'error']

/** Two processes on one Redis. This process ends sessions, the other serves requests with them. */
export interface EndRace {
  run(ending: Ending, trials: number): Promise<RaceFigures>
  stop(): Promise<void>
}

const IN_FLIGHT = 24
const SERVING = ['--user', 'serving', 'on', '>serving', '~*', '&*', '+@all']
const LIFE_MS = 3_600_000

export async function startEndRace(options: RaceOptions = {}): Promise<EndRace> {
  const { failover, disturbance } = options
  const { url, served, stopServers, failOver } = failover ? await startPair(failover) : await startOne(options)
  const client = await connectRedis(url)
  const serving = await startServing(served)
  let problem: unknown = 'not asked'
  // On a busy machine, the first try may be too slow.
  for (let tries = 0; tries < 10 && problem !== undefined; tries++) problem = await serving.call('whyNot')
  if (problem !== undefined) throw new Error(`The serving process does without the watch: ${problem}`)
  const trouble = disturbance ? disturbRedis(url, disturbance, 1000) : failOver && disturb(2000, failOver)

  const store = redisStore({ client, durability: failover ? 'replica' : 'master' })
  // Without notes, an end is confirmed a round trip sooner, which makes the race tighter.
  const limiter = sessmgr({ store, endedMemory: 0, settings: { maximum: 1000 } })
  const strict = sessmgr({ store, endedMemory: 0, settings: { maximum: 1, logic: 'logout_oldest' } })
  const forgets = { exists: () => true, destroy: () => {} }
  const [loose, one] = [explicitCalls(limiter, forgets), explicitCalls(strict, forgets)]
  const elsewhere = { ip: null, userAgent: null }
  const make = async () => ({ sessionId: randomUUID(), ttlMs: LIFE_MS })

  const acts: Record<Ending, (user: string, sessionId: string) => Promise<unknown>> = {
    end: (user, sessionId) => limiter.sessions.end(user, tokenOf(sessionId)),
    'end all': (user) => limiter.sessions.endAll(user),
    'end others': async (user) => {
      const kept = randomUUID()
      await loose.login({ userId: user, ...elsewhere }, async () => ({ sessionId: kept, ttlMs: LIFE_MS }))
      return limiter.sessions.endOthers(user, tokenOf(kept))
    },
    displacement: (user) => one.login({ userId: user, ...elsewhere }, make),
    'site-wide logout': () => limiter.sessions.logoutAllUsers(),
  }

  /** Ends sessions. Resolves to undefined if their end is not confirmed. */
  async function endedAt(ending: Ending, user: string, sessionId: string): Promise<number | undefined> {
    const isDone = await acts[ending](user, sessionId).catch(() => false)
    return isDone ? now() : undefined
  }

  async function signedIn(user: string): Promise<string> {
    for (;;) {
      const sessionId = (await serving.call('login', { user })) as string | undefined
      if (sessionId !== undefined && (await serving.call('follow', { sessionId }))) return sessionId
    }
  }

  return {
    async run(ending, trials) {
      const sum = { trials: 0, after: 0, live: 0, revived: 0, confirmed: 0, errors: 0, failed: 0 }
      const note = async (sessionId: string, ended: number | undefined) => {
        const { reads, confirmed } = (await serving.call('finish', { sessionId })) as Seen
        if (ended === undefined) return void sum.failed++
        sum.trials++
        sum.confirmed = confirmed
        sum.errors += reads.filter(([, , outcome]) => outcome === 'error').length
        // A request that read a session just before everything was deleted treats it as one from before sessmgr.
        const isLost = (begun: number, done: number) => isForgotten && trouble?.isWithin(begun, done)
        const after = reads.filter(
          ([begun, done, outcome]) => begun > ended && outcome !== 'error' && !isLost(begun, done),
        )
        sum.after += after.length
        sum.live += after.filter(([, , outcome]) => outcome === 'live').length
        const over = Math.min(...reads.filter(([, , outcome]) => outcome === 'over').map(([, done]) => done))
        if (reads.some(([begun, , outcome]) => outcome === 'live' && begun > over)) sum.revived++
      }
      const isForgotten = disturbance === 'everything is deleted'
      const before = trouble?.count() ?? 0
      if (ending === 'site-wide logout') {
        for (let left = trials; left > 0; left -= IN_FLIGHT) {
          const sessions = await inParallel(Math.min(left, IN_FLIGHT), IN_FLIGHT, () => signedIn(randomUUID()))
          const ended = await endedAt(ending, '', '')
          await Promise.all(sessions.map((sessionId) => note(sessionId, ended)))
        }
      } else {
        await inParallel(trials, IN_FLIGHT, async () => {
          const user = randomUUID()
          const sessionId = await signedIn(user)
          await note(sessionId, await endedAt(ending, user, sessionId))
        })
      }
      return { ...sum, disturbances: (trouble?.count() ?? 0) - before }
    },
    async stop() {
      await trouble?.stop()
      await serving.stop()
      await Promise.all([limiter.close(), strict.close()])
      client.destroy()
      await stopServers()
    },
  }
}

/** Starts one server, perhaps behind a proxy. */
async function startOne({ jitterMs = 0, isFlawed = false, redis: extra = [] }: RaceOptions) {
  const redis = await startRedis(['--save', '', '--appendonly', 'no', ...SERVING, ...extra])
  const proxy = jitterMs > 0 ? await startProxy(redis.port) : undefined
  proxy?.set({ kind: 'jitter', ms: jitterMs })
  const served = {
    url: proxy && !isFlawed ? proxy.url : redis.url,
    latePort: isFlawed ? proxy?.port : undefined,
    tracking: proxy ? true : undefined,
  }
  const stopServers = async () => {
    await proxy?.stop()
    await redis.stop()
  }
  return { url: redis.url, served, stopServers, failOver: undefined }
}

/** Starts a server and its replica. The serving process is the last to notice which is the primary. */
async function startPair(how: Failover) {
  const { early, late, failOver, stop } = await startFailover(SERVING)
  const served = { url: late.url, latePort: undefined, tracking: true }
  return { url: early.url, served, stopServers: stop, failOver: () => failOver(how) }
}

interface Seen {
  readonly reads: readonly Read[]
  readonly confirmed: number
}

async function startServing(settings: object) {
  const script = new URL('serving-process.mjs', import.meta.url).pathname
  const child: ChildProcess = spawn(process.execPath, [script], {
    env: { ...process.env, NODE_ENV: 'test', SERVING: JSON.stringify(settings) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const leaveNothing = () => child.kill('SIGKILL')
  process.once('exit', leaveNothing)
  const waiting = new Map<number, (answer: unknown) => void>()
  let calls = 0
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() =>
      Promise.reject(new Error('The serving process could not start. Run: npm run build')),
    ),
  ])
  child.on('message', ({ call, answer }: { call: number; answer: unknown }) => {
    waiting.get(call)?.(answer)
    waiting.delete(call)
  })
  return {
    call: (type: string, parameters: object = {}) =>
      new Promise((resolve) => {
        const call = ++calls
        waiting.set(call, resolve)
        child.send({ call, type, ...parameters })
      }),
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      process.off('exit', leaveNothing)
    },
  }
}
