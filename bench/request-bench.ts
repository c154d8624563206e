import { createClient } from 'redis'
import { cookieOf, getMe, type HttpLoad, httpLoad, postLogin } from './http-load.ts'
import { inTurns, type Redis, ratios, redisCommands, type Slice, type Subject, totals } from './in-turns.ts'
import { type BenchApp, delayProxy, type Kind, startApp, startRedis } from './processes.ts'
import { type Goal, judged, type Report } from './report.ts'
import { withQuartiles } from './statistics.ts'

const KINDS = ['plain', 'limit', 'naive', 'fallback', 'protected'] as const
const COLUMNS = ['', 'plain', 'limit', 'naive check', 'fallback', 'protected', 'goal of protected', 'slices of each']
const SESSIONS = 1000
const SLICE_MS = 150
const FAR_MS = 20

/** A row of the table: the conditions, and the goals to reach in them. */
interface Circumstances {
  readonly name: string
  readonly connections: number
  readonly sessionsPerUser: number
  readonly goal?: Goal
  readonly cpuGoal?: Goal
}

/** Measures an authenticated request with and without the limit. */
export async function requestBench(report: Report, effort: number): Promise<void> {
  const rounds = Math.max(4, Math.round(40 * effort))
  report.heading('An authenticated request, `GET /me`')
  const near = await measure(report, undefined, {}, rounds, [
    { name: '16 connections', connections: 16, sessionsPerUser: 1, goal: { atLeast: 1.05 }, cpuGoal: { atMost: 0.97 } },
    { name: '64 connections', connections: 64, sessionsPerUser: 1, goal: { atLeast: 1.04 } },
    { name: '16 connections, users with 3 sessions', connections: 16, sessionsPerUser: 3 },
    { name: '16 connections, users with 10 sessions', connections: 16, sessionsPerUser: 10 },
  ])
  const far = await measure(report, 1, {}, rounds, [
    { name: '16 connections, 1 ms to Redis', connections: 16, sessionsPerUser: 1, goal: { atLeast: 1.25 } },
    { name: '64 connections, 1 ms to Redis', connections: 64, sessionsPerUser: 1 },
  ])
  const defaults = await measure(report, undefined, { CLIENT_DEFAULTS: '1' }, rounds, [
    { name: "16 connections, client's default options", connections: 16, sessionsPerUser: 1, goal: { atLeast: 1.15 } },
  ])
  const all = [...near, ...far, ...defaults]
  const fallback = ratiosOf(near[0]?.slices, 'fallback')
  report.table([COLUMNS, ...all.map(perSecondRow)])
  report.note(
    `\nRequests per second as a ratio to plain, whose own number stands first; of each, the middle half of all rounds in brackets. ` +
      `The fallback at 16 connections: ${fallback?.perSecond.toFixed(2)} (goal ${judged(fallback?.perSecond ?? 0, { atLeast: 0.98 })}).\n`,
  )
  report.table([COLUMNS, ...all.map(cpuRow), ...near.slice(0, 1).map(commandsRow)])
  report.note('\nCPU time of the process per request as a ratio to plain, in the same way.\n')
  report.note(`Redis round trips one after the other in one request: ${await roundTrips()}.`)
}

interface Measured extends Circumstances {
  readonly slices: Map<string, Slice[]>
}

/** Runs all applications that connect to Redis in the same way at once. */
async function measure(
  report: Report,
  delayMs: number | undefined,
  env: Record<string, string>,
  rounds: number,
  circumstances: readonly Circumstances[],
): Promise<Measured[]> {
  const server = await startRedis()
  const url = delayMs === undefined ? server.url : `redis://127.0.0.1:${await delayProxy(server.port, delayMs)}`
  const redis = await createClient({ url: server.url }).connect()
  const commands = redisCommands(redis as Redis)
  const apps = await Promise.all(KINDS.map((kind) => startApp(kind, url, env)))
  const measured: Measured[] = []
  const cookies = new Map<string, readonly string[]>()
  for (const one of circumstances) {
    const loads = await Promise.all(apps.map(({ port }) => httpLoad(port, one.connections)))
    const subjects: Subject[] = []
    for (const [index, app] of apps.entries()) {
      const load = loads[index] as HttpLoad
      const key = `${app.kind} ${one.sessionsPerUser}`
      const own = cookies.get(key) ?? (await signIn(app, load, one.sessionsPerUser))
      cookies.set(key, own)
      subjects.push({ name: app.kind, app, load, next: each(own.map(getMe)) })
    }
    report.progress(one.name)
    measured.push({ ...one, slices: await inTurns(subjects, { rounds, sliceMs: SLICE_MS, commands }) })
    for (const load of loads) load.close()
  }
  for (const app of apps) app.stop()
  redis.destroy()
  return measured
}

async function signIn({ kind }: BenchApp, load: HttpLoad, sessionsPerUser: number): Promise<string[]> {
  const heads: string[] = []
  const users = Math.floor(SESSIONS / sessionsPerUser)
  for (let turn = 0; turn < sessionsPerUser; turn++) {
    const logins = Array.from({ length: users }, (_, user) => postLogin(`${kind}-${sessionsPerUser}-${user}`))
    heads.push(...(await load.all(logins)))
  }
  return heads.map(cookieOf)
}

/** Returns the values in turn, over and over. */
export function each(values: readonly string[]): () => string {
  let index = 0
  return () => values[index++ % values.length] ?? ''
}

const ratiosOf = (slices: Map<string, Slice[]> | undefined, kind: Kind) =>
  slices && ratios(slices.get(kind) ?? [], slices.get('plain') ?? [])

const others = KINDS.filter((kind) => kind !== 'plain')

function perSecondRow({ name, slices, goal }: Measured): string[] {
  const plain = totals(slices.get('plain') ?? []).perSecond
  const cells = others.map((kind) => {
    const { perSecond, perSecondRounds } = ratiosOf(slices, kind) ?? { perSecond: 0, perSecondRounds: [] }
    return withQuartiles(perSecond, perSecondRounds)
  })
  const reached = ratiosOf(slices, 'protected')?.perSecond ?? 0
  return [name, plain.toFixed(0), ...cells, goal ? judged(reached, goal) : '', String(slices.get('plain')?.length)]
}

function cpuRow({ name, slices, cpuGoal }: Measured): string[] {
  const plain = totals(slices.get('plain') ?? []).cpu
  const cells = others.map((kind) => {
    const { cpu, cpuRounds } = ratiosOf(slices, kind) ?? { cpu: 0, cpuRounds: [] }
    return withQuartiles(cpu, cpuRounds)
  })
  const goal = cpuGoal ? judged(ratiosOf(slices, 'protected')?.cpu ?? 0, cpuGoal) : ''
  return [name, `${plain.toFixed(0)} µs`, ...cells, goal, String(slices.get('plain')?.length)]
}

function commandsRow({ slices }: Measured): string[] {
  const commands = KINDS.map((kind) => totals(slices.get(kind) ?? []).commands)
  const goal = judged(commands.at(-1) ?? 0, { atMost: 1.05 })
  const cells = commands.map((each) => each.toFixed(2))
  return ['Redis commands per request', ...cells, goal, String(slices.get('plain')?.length)]
}

/** Counts the round trips that follow each other, using a Redis server that seems far away. */
async function roundTrips(): Promise<string> {
  const { port } = await startRedis()
  const url = `redis://127.0.0.1:${await delayProxy(port, FAR_MS)}`
  const counts: string[] = []
  for (const kind of KINDS) {
    const app = await startApp(kind, url)
    const load = await httpLoad(app.port, 1)
    const cookie = cookieOf((await load.all([postLogin('far away')]))[0] ?? '')
    const times: number[] = []
    for (let index = 0; index < 15; index++) {
      const start = performance.now()
      await load.all([getMe(cookie)])
      times.push(performance.now() - start)
    }
    // The fastest one counts, because a busy machine only ever adds time.
    counts.push(`${kind} ${Math.floor(Math.min(...times) / FAR_MS)}`)
    load.close()
    app.stop()
  }
  return counts.join(', ')
}
