import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { CallDeadline, type PendingCall } from '../../src/ground/call-deadline.ts'
import { type SessmgrStore, tokenOf } from '../../src/index.ts'
import { redisStore } from '../../src/redis.ts'
import { HttpLoad, type LoadAnswer, sessionIdOf } from './http-load.ts'
import { countBy } from './race-logins.ts'
import { connectRedis } from './redis-client.ts'
import { type RedisHost, startRedisHost } from './redis-host.ts'
import { startRedis } from './redis-server.ts'
import { seededRandom } from './seeded-random.ts'
import { type Fault, startProxy, type TcpProxy } from './tcp-proxy.ts'
import type { LimitSettings } from './whole-settings.ts'

const FAULT_DEADLINE_MS = 150
const RUN_MS = 700
const VISITORS = 6

/** Two applications on one Redis, each behind its own proxy, which can fail. */
interface FaultWorld {
  readonly hosts: readonly RedisHost[]
  readonly proxies: readonly TcpProxy[]
  /** What the applications share, without the proxies. */
  readonly store: SessmgrStore
  readonly load: HttpLoad
  stop(): Promise<void>
}

/** The result of one run with faults. */
interface FaultRun {
  readonly settings: LimitSettings
  /** Number of responses by status; 0 means a broken connection. */
  readonly statuses: Readonly<Record<number, number>>
  /** The highest number of sessions that were registered at once. */
  readonly mostAtOnce: number
  /** Number of logins with the response 200. */
  readonly admitted: number
  /** How many of their sessions work after recovery. */
  readonly live: number
  /** Sessions that are registered at the end although their login did not get 200. */
  readonly cutOff: readonly { readonly takenUp: boolean }[]
  readonly slowestRequestMs: number
}

async function startFaultWorld(): Promise<FaultWorld> {
  const server = await startRedis()
  const direct = await connectRedis(server.url)
  const sides = await Promise.all(
    [1, 2].map(async () => {
      const proxy = await startProxy(server.port)
      const client = await connectRedis(proxy.url)
      const host = await startRedisHost({ client, deadlineMs: FAULT_DEADLINE_MS })
      return { proxy, client, host }
    }),
  )
  const load = new HttpLoad(50)
  return {
    hosts: sides.map(({ host }) => host),
    proxies: sides.map(({ proxy }) => proxy),
    store: redisStore({ client: direct }),
    load,
    async stop() {
      load.close()
      for (const { proxy, client, host } of sides) {
        await host.close()
        client.destroy()
        await proxy.stop()
      }
      direct.destroy()
      await server.stop()
    },
  }
}

/** Lets one user log in and use both applications while their connections to Redis fail, and then checks the state. */
async function runFaults(world: FaultWorld, seed: number): Promise<FaultRun> {
  const { hosts, proxies, store, load } = world
  const random = seededRandom(seed)
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const settings = { maximum: 1 + (seed % 4), logic: pick(['allow', 'logout_oldest', 'block']) }
  await (hosts[0] as RedisHost).limiter.settings.update(settings)

  const [login, userId] = [`user${seed}`, 1000 + seed]
  const end = performance.now() + RUN_MS
  const running = () => performance.now() < end
  const answers: LoadAnswer[] = []
  const cookies: string[] = []
  let mostAtOnce = 0

  const visit = async () => {
    while (running()) {
      const { origin } = pick(hosts)
      const cookie = pick(cookies)
      const choice = random()
      const isLogin = cookie === undefined || choice < 0.6
      const answer = isLogin
        ? await load.login(origin, login, 'secret').catch(brokenOff)
        : // In the mode block every slot that was given away must stay so, to be counted in the end.
          choice < 0.7 && settings.logic !== 'block'
          ? await load.send(origin, '/logout', { method: 'POST', cookie }).catch(brokenOff)
          : await load.send(origin, '/me', { cookie }).catch(brokenOff)
      answers.push(answer)
      if (isLogin && answer.status === 200 && answer.cookie !== undefined) cookies.push(answer.cookie)
      await sleep(random() * 10)
    }
  }
  const disturb = async (proxy: TcpProxy) => {
    while (running()) {
      await sleep(random() * 60)
      proxy.set(anyFault(random))
      await sleep(20 + random() * 250)
      proxy.set({ kind: 'none' })
    }
  }
  const watch = async () => {
    while (running()) {
      mostAtOnce = Math.max(mostAtOnce, (await store.sessions.read(userId)).sessions.length)
      await sleep(1)
    }
  }
  await Promise.all([...Array.from({ length: VISITORS }, visit), ...proxies.map(disturb), watch()])
  await recovered(world)

  const visits = await Promise.all(cookies.map((cookie, n) => load.send(hosts[n % 2]?.origin ?? '', '/me', { cookie })))
  const known = new Set(cookies.map((cookie) => tokenOf(sessionIdOf(cookie))))
  const { sessions } = await store.sessions.read(userId)
  return {
    settings,
    statuses: countBy([...answers, ...visits].map(({ status }) => status)),
    mostAtOnce: Math.max(mostAtOnce, sessions.length),
    admitted: cookies.length,
    live: visits.filter(({ status }) => status === 200).length,
    cutOff: sessions.filter(({ record }) => !known.has(record.token)),
    slowestRequestMs: Math.max(...answers.map(({ ms }) => ms)),
  }
}

function anyFault(random: () => number): Fault {
  const faults: Fault[] = [
    { kind: 'delay', ms: random() * 2 * FAULT_DEADLINE_MS },
    { kind: 'reset' },
    { kind: 'cut', bytes: 1 + Math.floor(random() * 200) },
    { kind: 'black hole' },
    { kind: 'lost reply' },
  ]
  return faults[Math.floor(random() * faults.length)] as Fault
}

const brokenOff = (): LoadAnswer => ({ status: 0, headers: {}, text: '', cookie: undefined, ms: 0 })

/** Waits until both applications respond again. */
async function recovered({ hosts, load }: FaultWorld): Promise<void> {
  for (const { origin } of hosts) {
    const deadline = performance.now() + 10_000
    while ((await load.login(origin, 'carol', 'secret')).status === 503) {
      if (performance.now() > deadline) throw new Error('An application did not recover within 10 s.')
      await sleep(20)
    }
  }
}

/** Checks what must be true of a run with faults, whatever has failed. */
function expectSound({ settings, statuses, mostAtOnce, admitted, live, cutOff, ...run }: FaultRun, calls: CallTimes) {
  const { maximum, logic } = settings
  expect(mostAtOnce).toBeLessThanOrEqual(maximum)
  expect(live).toBeLessThanOrEqual(maximum)
  // Nothing ends in this mode, so a slot that was taken twice is visible.
  if (logic === 'block') expect(admitted + cutOff.length).toBeLessThanOrEqual(maximum)
  // The next login of the same browser gets the slot of a session that nobody has.
  expect(cutOff.filter(({ takenUp }) => takenUp)).toEqual([])
  // 0: express-session reports a failed save after the response has begun, and Express aborts the response.
  const expected = [0, 200, 204, 401, 403, 503]
  expect(Object.keys(statuses).filter((status) => !expected.includes(Number(status)))).toEqual([])
  expect(calls.calls).toBeGreaterThan(10)
  expect(calls.slowestMs - calls.stallMs).toBeLessThanOrEqual(FAULT_DEADLINE_MS + 3000)
  expect(run.slowestRequestMs).toBeLessThan(200 * FAULT_DEADLINE_MS)
}

/** Runs one seed and checks the result. */
type CheckedRun = (seed: number) => Promise<{ run: FaultRun; times: CallTimes }>

/** Describes what two applications do while their connections to Redis fail. */
export function describeFaults(tests: (checkRun: CheckedRun) => void): void {
  describe('two applications whose connections to Redis are delayed, reset, cut, swallowed or lose replies', () => {
    let world: FaultWorld
    const calls = measureCalls()
    beforeAll(async () => {
      world = await startFaultWorld()
    })
    afterAll(async () => {
      calls.stop()
      await world.stop()
    })

    tests(async (seed) => {
      const run = await runFaults(world, seed)
      const times = calls.look()
      expectSound(run, times)
      return { run, times }
    })
  })
}

/** How long the store calls of this process took since the last measurement. */
interface CallTimes {
  readonly calls: number
  readonly slowestMs: number
  /** The longest time for which this process itself was blocked. */
  readonly stallMs: number
}

/** Measures every call with a deadline, until `stop`. `look` returns the times and starts from zero. */
function measureCalls(): { look(): CallTimes; stop(): void } {
  const { begin } = CallDeadline.prototype
  const stalls = monitorEventLoopDelay({ resolution: 5 })
  stalls.enable()
  let times = { calls: 0, slowestMs: 0 }
  CallDeadline.prototype.begin = function measured(this: CallDeadline, call: PendingCall): boolean {
    const start = performance.now()
    const note = () => {
      times.calls += 1
      times.slowestMs = Math.max(times.slowestMs, performance.now() - start)
    }
    // A call waits until it has succeeded or failed.
    let isWaiting = false
    Object.defineProperty(call, 'isWaiting', {
      get: () => isWaiting,
      set(waits: boolean) {
        if (isWaiting && !waits) note()
        isWaiting = waits
      },
    })
    const mayBegin = begin.call(this, call)
    if (!mayBegin) note()
    return mayBegin
  }
  return {
    look() {
      const seen = { ...times, stallMs: stalls.max / 1e6 }
      times = { calls: 0, slowestMs: 0 }
      stalls.reset()
      return seen
    },
    stop() {
      CallDeadline.prototype.begin = begin
      stalls.disable()
    },
  }
}
