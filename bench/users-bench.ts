import { createClient } from 'redis'
import { cookieOf, getMe, httpLoad, postLogin } from './http-load.ts'
import { inTurns, ratio, totals } from './in-turns.ts'
import { startApp, startApps, startRedis } from './processes.ts'
import { judged, type Report } from './report.ts'

/** How many sessions each user has, and what is to be reached of one session's speed. */
const SESSIONS = { '1': undefined, '100': 0.9, '1000': 0.5 } as const
const COUNTS = Object.keys(SESSIONS) as (keyof typeof SESSIONS)[]
const ALL_SESSIONS = 1000
/** A sixth of the default, so that every use is recorded again while it is measured. */
const TOUCH_EVERY_MS = 10_000
const USERS = 20
const LOGINS = 100

/** Measures users with many sessions, and what Redis keeps of a user. */
export async function usersBench(report: Report, effort: number): Promise<void> {
  await manySessions(report, effort)
  report.heading('Redis memory of a user after 100 logins')
  const sizes = [await sizesWith(1), await sizesWith(3)] as const
  const kinds = [...new Set(sizes.flatMap((one) => [...one.keys()]))].sort()
  report.table([
    ['', ...kinds.map((kind) => `\`${kind}\``)],
    ...[1, 3].map((maximum, place) => [
      maximum === 1 ? 'with one session' : `with ${maximum} sessions`,
      ...kinds.map((kind) => `${((sizes[place]?.get(kind) ?? 0) / USERS).toFixed(0)} B`),
    ]),
  ])
}

async function manySessions(report: Report, effort: number): Promise<void> {
  const server = await startRedis()
  const env = { REDIS_URL: server.url, MAXIMUM: String(ALL_SESSIONS), TOUCH_EVERY: String(TOUCH_EVERY_MS) }
  const rounds = Math.max(8, Math.round(80 * effort))
  report.progress('users with many sessions')
  const results = await inTurns({
    kinds: COUNTS,
    connections: 16,
    rounds,
    start: (_count, node) => startApps(2, () => startApp('app.ts', { kind: 'protected', node, env })),
    async prepare({ port }, load, count) {
      const users = ALL_SESSIONS / Number(count)
      const heads = await load.all(
        Array.from({ length: ALL_SESSIONS }, (_, index) => postLogin(`${port}-${count}-${index % users}`)),
      )
      const requests = heads.map(cookieOf).map(getMe)
      // Each session is used through both processes.
      await load.all([...requests, ...requests])
      let index = 0
      return () => requests[index++ % requests.length] ?? ''
    },
  })
  server.stop()
  report.heading(`\`GET /me\` of users with many sessions, all in use, two processes, \`touchEvery\` ${TOUCH_EVERY_MS}`)
  const rows = [
    ['sessions of each user', 'requests per second', '÷ one session', 'CPU ÷ one session', 'goal', 'slices'],
  ]
  for (const { node, slices } of results) {
    for (const count of COUNTS) {
      const [own, one] = [slices[count], slices['1']]
      const reached = ratio(own, one, 'perSecond')
      const goal = SESSIONS[count]
      rows.push([
        `${node.name}, ${count}`,
        totals(own).perSecond.toFixed(0),
        reached.text,
        ratio(own, one, 'cpu').text,
        goal === undefined ? '' : judged(reached.value, { atLeast: goal }),
        String(rounds),
      ])
    }
  }
  report.table(rows)
}

/** Measures what Redis keeps for users of whom each signed in often, in bytes for each kind of key. */
async function sizesWith(maximum: number): Promise<ReadonlyMap<string, number>> {
  const server = await startRedis()
  const client = await createClient({ url: server.url }).connect()
  const app = await startApp('app.ts', { kind: 'protected', env: { REDIS_URL: server.url, MAXIMUM: String(maximum) } })
  const load = await httpLoad(app.ports, 16)
  const before = await keysBySize(client)
  await load.all(Array.from({ length: USERS * LOGINS }, (_, index) => postLogin(`user${index % USERS}`)))
  const after = await keysBySize(client)
  load.close()
  app.stop()
  client.destroy()
  server.stop()
  return new Map([...after].map(([kind, bytes]) => [kind, bytes - (before.get(kind) ?? 0)]))
}

/** Adds up the memory of keys by what their names begin with. */
async function keysBySize(client: {
  keys(all: string): Promise<string[]>
  memoryUsage(key: string): Promise<unknown>
}) {
  const sizes = new Map<string, number>()
  for (const key of await client.keys('*')) {
    const kind = key.match(/^(?:[a-z]+:)+/)?.[0] ?? key
    sizes.set(kind, (sizes.get(kind) ?? 0) + Number(await client.memoryUsage(key)))
  }
  return sizes
}
