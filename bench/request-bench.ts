import { cookieOf, getMe, type HttpLoad, httpLoad, postLogin } from './http-load.ts'
import { inTurns, type Result, ratio, redisUsage, type Slice, totals } from './in-turns.ts'
import { type BenchApp, delayProxy, type Kind, NODES, startApp, startRedis } from './processes.ts'
import { type Goal, judged, type Report } from './report.ts'

/** The twin is the same as plain, and shows how much a ratio varies on this machine. */
const KINDS = ['plain', 'twin', 'limit', 'byHand', 'fallback', 'protected'] as const
const OTHERS = KINDS.slice(1)
type Compared = (typeof KINDS)[number]
const NAMES = ['twin of plain', 'touch spared', 'check by hand', 'fallback', 'protected']
const SESSIONS = 1000
/** More than a process remembers, and all used in turn. */
const COLD_SESSIONS = 24_000
/** How often each session is used before the measurement, so that the process remembers what it is going to. */
const COLD_PASSES = 2
const FAR_MS = 20

/** A row of the table: the conditions, and the goals to reach in them. */
interface Circumstances {
  readonly name: string
  readonly connections: number
  /** @default 1000 */
  readonly sessions?: number
  /** @default all */
  readonly kinds?: readonly Compared[]
  readonly delayMs?: number
  readonly env?: Readonly<Record<string, string>>
  readonly goal: Goal
}

const NEAR: readonly Circumstances[] = [
  { name: '16 connections', connections: 16, goal: { atLeast: 1.1 } },
  { name: '64 connections', connections: 64, goal: { atLeast: 1.1 } },
]
const OTHER_CLIENTS: readonly Circumstances[] = [
  { name: '16 connections, 1 ms to Redis', connections: 16, delayMs: 1, goal: { atLeast: 1.1 } },
  {
    name: "16 connections, client's default options",
    connections: 16,
    env: { CLIENT_DEFAULTS: '1' },
    goal: { atLeast: 1.1 },
  },
]
const COLD: Circumstances = {
  name: `16 connections, ${COLD_SESSIONS.toLocaleString('en')} users in turn`,
  connections: 16,
  sessions: COLD_SESSIONS,
  kinds: ['plain', 'byHand', 'protected'],
  goal: { atLeast: 0.8 },
}

/** Measures an authenticated request with and without the limit. */
export async function requestBench(report: Report, effort: number): Promise<void> {
  report.heading('An authenticated request')
  await compare(report, effort, NEAR)
}

/** Measures an authenticated request with other connections to Redis. */
export async function clientBench(report: Report, effort: number): Promise<void> {
  report.heading('An authenticated request with other connections to Redis')
  await compare(report, effort, OTHER_CLIENTS)
  report.note(`\nRedis round trips one after the other in one request: ${await roundTrips()}.`)
}

/** Measures authenticated requests of more sessions than the process remembers. */
export async function coldBench(report: Report, effort: number): Promise<void> {
  report.heading('An authenticated request where the process cannot remember all sessions')
  await compare(report, effort, [COLD])
}

async function compare(report: Report, effort: number, all: readonly Circumstances[]): Promise<void> {
  const rounds = Math.max(4, Math.round(40 * effort))
  const perSecond = [['`GET /me`, requests per second', 'plain', ...NAMES, 'goal of protected', 'slices of each']]
  const cpu = [['CPU per request', 'plain', ...NAMES]]
  const redis = [['commands per request; Redis CPU', 'plain', ...NAMES]]
  for (const circumstances of all) {
    report.progress(circumstances.name)
    for (const { node, slices } of await measure(circumstances, rounds)) {
      const name = `${node.name}, ${circumstances.name}`
      const cells = (kinds: readonly Compared[], cell: (slices: readonly Slice[]) => string) =>
        kinds.map((kind) => (slices[kind] ? cell(slices[kind]) : ''))
      const ratios = (figure: 'perSecond' | 'cpu') => cells(OTHERS, (own) => ratio(own, slices.plain, figure).text)
      const plain = totals(slices.plain)
      const goal = judged(ratio(slices.protected, slices.plain, 'perSecond').value, circumstances.goal)
      perSecond.push([name, plain.perSecond.toFixed(0), ...ratios('perSecond'), goal, String(rounds)])
      cpu.push([name, `${plain.cpu.toFixed(0)} µs`, ...ratios('cpu')])
      redis.push([name, ...cells(KINDS, usageOf)])
    }
  }
  report.note('Ratios to plain, with the middle half of all rounds.\n')
  report.table(perSecond)
  report.note('')
  report.table(cpu)
  report.note('')
  report.table(redis)
}

function usageOf(slices: readonly Slice[]): string {
  const { commands, serverCpu } = totals(slices)
  return `${commands.toFixed(2)}; ${serverCpu.toFixed(1)} µs`
}

async function measure(
  { connections, sessions = SESSIONS, kinds = KINDS, delayMs, env }: Circumstances,
  rounds: number,
): Promise<Result<Compared>[]> {
  const server = await startRedis()
  const url = delayMs === undefined ? server.url : `redis://127.0.0.1:${await delayProxy(server.port, delayMs)}`
  const redis = await redisUsage(server.url)
  const results = await inTurns({
    kinds,
    connections,
    rounds,
    start: (kind, node) =>
      startApp('app.ts', { kind, node, env: { REDIS_URL: url, ...(delayMs && { FAR: '1' }), ...env } }),
    async prepare(app, load) {
      const next = await signedIn(app, load, sessions)
      if (sessions > SESSIONS) await load.all(Array.from({ length: COLD_PASSES * sessions }, next))
      return next
    },
    usage: redis.usage,
  })
  redis.stop()
  server.stop()
  return results
}

/** Signs users in, and returns what makes a request of each of them in turn, over and over. */
export async function signedIn({ port }: BenchApp, load: HttpLoad, users: number): Promise<() => string> {
  const heads = await load.all(Array.from({ length: users }, (_, user) => postLogin(`${port}-${user}`)))
  const requests = heads.map(cookieOf).map(getMe)
  let index = 0
  return () => requests[index++ % requests.length] ?? ''
}

/** Counts the round trips that follow each other, using a Redis server that seems far away. */
async function roundTrips(): Promise<string> {
  const server = await startRedis()
  const url = `redis://127.0.0.1:${await delayProxy(server.port, FAR_MS)}`
  const count = async (kind: Kind) => {
    const app = await startApp('app.ts', { kind, node: NODES[0], env: { REDIS_URL: url, FAR: '1' } })
    const load = await httpLoad(app.ports, 1)
    const cookie = cookieOf((await load.all([postLogin('far away')]))[0] ?? '')
    const times: number[] = []
    for (let index = 0; index < 15; index++) {
      const start = performance.now()
      await load.all([getMe(cookie)])
      times.push(performance.now() - start)
    }
    load.close()
    app.stop()
    // The fastest one counts, because a busy machine only ever adds time.
    return `${kind} ${Math.floor(Math.min(...times) / FAR_MS)}`
  }
  const counts: string[] = []
  for (const kind of ['plain', 'byHand', 'fallback', 'protected'] as const) counts.push(await count(kind))
  server.stop()
  return counts.join(', ')
}
