import { createClient } from 'redis'
import { httpLoad, postLogin } from './http-load.ts'
import { inTurns, type Redis, ratios, redisCommands, type Subject, totals } from './in-turns.ts'
import { loginOptions } from './login-options.ts'
import { startApp, startRedis } from './processes.ts'
import { judged, type Report } from './report.ts'
import { withQuartiles } from './statistics.ts'

const MAXIMUM = 10
const FULL_USERS = 50

/** Measures logins in one process, without a password hash, which would cost a hundred times as much. */
export async function loginBench(report: Report, effort: number): Promise<void> {
  const rounds = Math.max(4, Math.round(40 * effort))
  const server = await startRedis()
  const redis = await createClient({ url: server.url }).connect()
  const commands = redisCommands(redis as Redis)
  const apps = await Promise.all((['plain', 'protected'] as const).map((kind) => startApp(kind, server.url)))
  const loads = await Promise.all(apps.map(({ port }) => httpLoad(port, 16)))
  for (const load of loads) {
    await load.all(Array.from({ length: FULL_USERS * MAXIMUM }, (_, index) => postLogin(`full${index % FULL_USERS}`)))
  }

  report.heading('Logins of one process, 16 connections')
  const rows = [['', 'plain', 'protected', 'CPU per login', 'Redis commands', 'goal', 'slices of each']]
  for (const [name, nameOf] of [
    ['a new user each time', (index: number) => `new${index}`],
    [`${FULL_USERS} users, always at the maximum of ${MAXIMUM}`, (index: number) => `full${index % FULL_USERS}`],
  ] as const) {
    let index = 0
    const next = () => postLogin(nameOf(index++))
    const subjects = apps.map((app, place): Subject => ({ name: app.kind, app, load: loads[place] as never, next }))
    const slices = await inTurns(subjects, { rounds, sliceMs: 150, commands })
    const [plain = [], guarded = []] = ['plain', 'protected'].map((kind) => slices.get(kind))
    const { perSecond, perSecondRounds, cpu, cpuRounds } = ratios(guarded, plain)
    rows.push([
      name,
      `${totals(plain).perSecond.toFixed(0)} per second`,
      withQuartiles(perSecond, perSecondRounds),
      withQuartiles(cpu, cpuRounds),
      `${totals(plain).commands.toFixed(1)}, ${totals(guarded).commands.toFixed(1)}`,
      judged(perSecond, { atLeast: 0.65 }),
      String(plain.length),
    ])
  }
  report.table(rows)
  for (const load of loads) load.close()
  for (const app of apps) app.stop()
  redis.destroy()
  await loginOptions(report, server.url, rounds)
}
