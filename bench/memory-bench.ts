import { cookieOf, getMe, httpLoad, postLogin } from './http-load.ts'
import { type Kind, startApp, startRedis } from './processes.ts'
import { judged, type Report } from './report.ts'

const ALL_SESSIONS = 20_000

/** A session is seen by its first request. From the second one on, the row of its user is remembered as well. */
const GOALS = { seen: 600, remembered: 900 } as const

/** Measures how much heap a process uses for each session that it has seen. */
export async function memoryBench(report: Report, effort: number): Promise<void> {
  const count = Math.round(ALL_SESSIONS * Math.min(1, effort))
  const { url } = await startRedis()
  const [plain, guarded] = [await growth('plain', url, count), await growth('protected', url, count)]
  report.heading('Memory of the process')
  report.table([
    ['heap, after garbage collection', 'plain', 'protected', 'goal', 'sessions'],
    ...(['seen', 'remembered'] as const).map((state) => {
      const perSession = (guarded[state] - plain[state]) / count
      return [
        `per ${state} session`,
        `${(plain[state] / count).toFixed(0)} B`,
        `${perSession.toFixed(0)} B more`,
        judged(perSession, { atMost: GOALS[state] }),
        count.toLocaleString('en'),
      ]
    }),
  ])
}

/** Lets one process sign users in, and measures how much another grows when it sees their sessions. */
async function growth(kind: Kind, url: string, count: number) {
  const first = await startApp('app.ts', { kind, env: { REDIS_URL: url } })
  const logins = await httpLoad(first.ports, 16)
  const heads = await logins.all(Array.from({ length: count }, (_, user) => postLogin(`${kind}${user}`)))
  logins.close()
  first.stop()
  const [warm = '', ...cookies] = heads.map(cookieOf)
  const app = await startApp('app.ts', { kind, env: { REDIS_URL: url } })
  const load = await httpLoad(app.ports, 16)
  await load.all(Array.from({ length: 2000 }, () => getMe(warm)))
  await app.ask('heap')
  const before = await app.ask('heap')
  const grown = async () => {
    await load.all(cookies.map(getMe))
    await app.ask('heap')
    return (await app.ask('heap')) - before
  }
  const seen = await grown()
  await grown()
  const remembered = await grown()
  load.close()
  app.stop()
  return { seen, remembered }
}
