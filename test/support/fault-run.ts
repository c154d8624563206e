import { setTimeout as sleep } from 'node:timers/promises'
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

export const FAULT_DEADLINE_MS = 150
const RUN_MS = 700
const VISITORS = 6

/** Two applications on one Redis, each behind its own proxy, which can fail. */
export interface FaultWorld {
  readonly hosts: readonly RedisHost[]
  readonly proxies: readonly TcpProxy[]
  /** What the applications share, without the proxies. */
  readonly store: SessmgrStore
  readonly load: HttpLoad
  stop(): Promise<void>
}

/** The result of one run with faults. */
export interface FaultRun {
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

export async function startFaultWorld(): Promise<FaultWorld> {
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
export async function runFaults(world: FaultWorld, seed: number): Promise<FaultRun> {
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
