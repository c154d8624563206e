import { postLogin } from './http-load.ts'
import { inTurns, ratio, redisUsage, totals } from './in-turns.ts'
import { startApp, startRedis } from './processes.ts'
import { type Goal, judged, type Report } from './report.ts'

const KINDS = ['plain', 'byHand', 'protected'] as const
const MAXIMUM = 10
const FULL_USERS = 50

interface Row {
  readonly name: string
  readonly goal: Goal
  userOf(index: number): string
}

const ROWS: readonly Row[] = [
  { name: 'a new user each time', goal: { atLeast: 0.7 }, userOf: (index) => `new${index}` },
  {
    name: `${FULL_USERS} users, always at the maximum of ${MAXIMUM}`,
    goal: { atLeast: 0.55 },
    userOf: (index) => `full${index % FULL_USERS}`,
  },
]

/** Measures logins in one process, without a password hash, which would cost a hundred times as much. */
export async function loginBench(report: Report, effort: number): Promise<void> {
  const rounds = Math.max(4, Math.round(40 * effort))
  const head = ['', 'plain', 'by hand, inexact', 'protected', 'CPU per login', 'commands; Redis CPU', 'goal', 'slices']
  const rows = [head]
  for (const { name, goal, userOf } of ROWS) {
    const server = await startRedis()
    const redis = await redisUsage(server.url)
    report.progress(name)
    const results = await inTurns({
      kinds: KINDS,
      connections: 16,
      rounds,
      start: (kind, node) => startApp('app.ts', { kind, node, env: { REDIS_URL: server.url } }),
      async prepare({ port }, load) {
        let index = 0
        const next = () => postLogin(`${port}-${userOf(index++)}`)
        await load.all(Array.from({ length: FULL_USERS * MAXIMUM }, next))
        return next
      },
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
  report.heading('Logins of one process, 16 connections')
  report.table(rows)
}
