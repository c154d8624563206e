import { cookieOf, type Exchanged, getMe, type HttpLoad, httpLoad, postLogin } from './http-load.ts'
import { inTurns, ratio, redisUsage, totals } from './in-turns.ts'
import { type BenchApp, startApp, startApps, startRedis } from './processes.ts'
import { type Goal, judged, type Report } from './report.ts'

const KINDS = ['plain', 'byHand', 'protected'] as const
const MAXIMUM = 10
const FULL_USERS = 50
/** More than sign in while they are measured, so that each returns once. */
const RETURNING = 24_000

interface Row {
  readonly name: string
  readonly goal: Goal
  /** @default 1 */
  readonly processes?: number
  /** How many logins are made before, by other processes if they are to remember none. */
  readonly before: { readonly logins: number; readonly isElsewhere?: boolean }
  /** Whether the first request of the session belongs to it. */
  readonly isUsed?: boolean
  userOf(index: number): string
}

const NEW = { before: { logins: FULL_USERS * MAXIMUM }, userOf: (index: number) => `new${index}` }
const FULL = { before: { logins: FULL_USERS * MAXIMUM }, userOf: (index: number) => `full${index % FULL_USERS}` }
const ROWS: readonly Row[] = [
  { ...NEW, name: 'a new user each time', goal: { atLeast: 0.8 } },
  { ...FULL, name: `${FULL_USERS} users, always at the maximum of ${MAXIMUM}`, goal: { atLeast: 0.5 } },
  { ...NEW, name: 'a new user each time, with the first request', goal: { atLeast: 0.75 }, isUsed: true },
  { ...FULL, name: 'at the maximum, with the first request', goal: { atLeast: 0.43 }, isUsed: true },
  {
    name: 'users who come back, no process remembers them, four processes',
    goal: { atLeast: 0.55 },
    processes: 4,
    before: { logins: RETURNING, isElsewhere: true },
    userOf: (index) => `back${index % RETURNING}`,
  },
]

/** Measures logins without a password hash, which would cost a hundred times as much. */
export async function loginBench(report: Report, effort: number): Promise<void> {
  const rounds = Math.max(4, Math.round(40 * effort))
  const head = ['', 'plain', 'by hand, inexact', 'protected', 'CPU per login', 'commands; Redis CPU', 'goal', 'slices']
  const rows = [head]
  for (const row of ROWS) {
    const { name, goal, processes = 1 } = row
    const server = await startRedis()
    const redis = await redisUsage(server.url)
    report.progress(name)
    const start = (kind: (typeof KINDS)[number], node?: Parameters<typeof startApp>[1]['node']) =>
      startApps(processes, () => startApp('app.ts', { kind, node, env: { REDIS_URL: server.url } }))
    const results = await inTurns({
      kinds: KINDS,
      connections: 16,
      rounds,
      start,
      prepare: (app, load, kind) => loginsOf(row, app, load, () => start(kind)),
      usage: redis.usage,
    })
    for (const { node, slices } of results) {
      const [plain, guarded] = [totals(slices.plain), totals(slices.protected)]
      const reached = ratio(slices.protected, slices.plain, 'perSecond')
      rows.push([
        `${node.name}, ${name}`,
        `${plain.perSecond.toFixed(0)} per second`,
        ratio(slices.byHand, slices.plain, 'perSecond').text,
        reached.text,
        ratio(slices.protected, slices.plain, 'cpu').text,
        [plain, guarded].map((one) => `${one.commands.toFixed(1)}; ${one.serverCpu.toFixed(0)} µs`).join(' → '),
        judged(reached.value, goal),
        String(rounds),
      ])
    }
    redis.stop()
    server.stop()
  }
  report.heading('Logins, 16 connections')
  report.table(rows)
}

/** Makes the logins before, and returns what makes the next ones. */
async function loginsOf(
  { before: { logins, isElsewhere }, isUsed, userOf }: Row,
  app: BenchApp,
  load: HttpLoad,
  startOther: () => Promise<BenchApp>,
): Promise<() => Exchanged> {
  let index = 0
  const login = () => postLogin(`${app.port}-${userOf(index++)}`)
  const all = Array.from({ length: logins }, login)
  if (isElsewhere) {
    const other = await startOther()
    const itsLoad = await httpLoad(other.ports, 16)
    await itsLoad.all(all)
    itsLoad.close()
    other.stop()
  } else {
    await load.all(all)
  }
  if (!isUsed) return login
  return () => {
    const request = login()
    return async (exchange) => exchange(getMe(cookieOf(await exchange(request))))
  }
}
