import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { explicitCalls } from '../../src/explicit.ts'
import { sessmgr, tokenOf } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import { startCalled } from './called-process.ts'
import { type Failover, startFailover } from './failover-redis.ts'
import { inParallel } from './in-parallel.ts'
import { connectRedis, type NodeRedis } from './redis-client.ts'
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
  const serving = await startCalled('serving-process.mjs', served)
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
      const sessionId = await serving.call<string | undefined>('login', { user })
      if (sessionId !== undefined && (await serving.call('follow', { sessionId }))) return sessionId
    }
  }

  return {
    async run(ending, trials) {
      const sum = { trials: 0, after: 0, live: 0, revived: 0, confirmed: 0, errors: 0, failed: 0 }
      const note = async (sessionId: string, ended: number | undefined) => {
        const { reads, confirmed } = await serving.call<Seen>('finish', { sessionId })
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
      await serving.kill()
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

/** What happens to a server and to the connections of its user `serving`, once. */
const DISTURBANCES = {
  'all connections are closed': (client: NodeRedis) => kill(client, () => true),
  'the watched connection is closed': (client: NodeRedis) => kill(client, isTracking),
  "the application's connection is closed": (client: NodeRedis) => kill(client, (flags) => !isTracking(flags)),
  async 'clients are evicted'(client: NodeRedis) {
    await client.sendCommand(['CLIENT', 'NO-EVICT', 'ON'])
    await client.configSet('maxmemory-clients', '1')
    await client.configSet('maxmemory-clients', '0')
  },
  'everything is deleted': (client: NodeRedis) => client.flushAll(),
  async 'keys are evicted'(client: NodeRedis) {
    const filling = 'x'.repeat(10_000)
    const keys = Array.from({ length: 100 }, () => `filling:${Math.random()}`)
    await Promise.all(keys.map((key) => client.set(key, filling, { expiration: { type: 'EX', value: 600 } })))
  },
} satisfies Record<string, (client: NodeRedis) => Promise<unknown>>

type Disturbance = keyof typeof DISTURBANCES

const isTracking = (flags: string) => flags.includes('t')

async function kill(client: NodeRedis, matches: (flags: string) => boolean): Promise<void> {
  for (const line of String(await client.sendCommand(['CLIENT', 'LIST'])).split('\n')) {
    const [, id = '', flags = '', user] = /^id=(\d+) .* flags=(\S+) .* user=(\S+)/.exec(line) ?? []
    if (user === 'serving' && matches(flags)) await client.sendCommand(['CLIENT', 'KILL', 'ID', id])
  }
}

/** The same clock in all processes of a machine. */
function now(): number {
  return Number(process.hrtime.bigint())
}

/** Disturbs something repeatedly; `stop` waits for the last disturbance. */
function disturb(everyMs: number, once: () => Promise<unknown>) {
  let isOn = true
  const times: (readonly [begun: number, done: number])[] = []
  const disturbing = (async () => {
    while (isOn) {
      await sleep(everyMs * (0.2 + 0.8 * Math.random()))
      const begun = now()
      await once()
      times.push([begun, now()])
    }
  })()
  return {
    count: () => times.length,
    /** Checks whether a disturbance happened between two points in time. */
    isWithin: (begun: number, done: number) => times.some(([from, to]) => from < done && to > begun),
    stop() {
      isOn = false
      return disturbing
    },
  }
}

/** Disturbs a server repeatedly. */
function disturbRedis(url: string, how: Disturbance, everyMs: number) {
  let client: NodeRedis | undefined
  const disturbing = disturb(everyMs, async () => {
    client ??= await connectRedis(url)
    await DISTURBANCES[how](client)
  })
  return {
    ...disturbing,
    async stop() {
      await disturbing.stop()
      client?.destroy()
    },
  }
}
