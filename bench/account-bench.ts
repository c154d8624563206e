import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
import type { SessmgrStore } from '../src/stores/store.ts'
import { startRedis } from './processes.ts'
import { admit, sessionIdOf } from './registry-bench.ts'
import { judged, type Report } from './report.ts'
import { median, quantile } from './statistics.ts'

const COUNTS = [10, 100, 1000]
const MOST = 1000

/** Measures lists of sessions and their end in the registry, for a user with as many as a user can have. */
export async function accountBench(report: Report, effort: number): Promise<void> {
  const client = await createClient({ url: (await startRedis()).url, commandOptions: { timeout: undefined } }).connect()
  const store = redisStore({ client }) as SessmgrStore
  const limiter = sessmgr({ store, settings: { maximum: MOST }, logger: { warn() {}, error() {} } })
  const idsOf = (count: number) => Array.from({ length: count }, (_, index) => sessionIdOf(`${count} ${index}`))
  for (const count of COUNTS) for (const id of idsOf(count)) await admit(store, `with ${count}`, id, count)

  const own = await client.keys(`*with%20${MOST}*`)
  for (const key of own) await client.copy(key, `kept ${key}`)
  /** Makes the sessions that have ended live again, as if they had never ended. */
  const restore = async () => {
    await client.del(await client.keys(`sessmgr:*with%20${MOST}*`))
    for (const key of own) await client.copy(`kept ${key}`, key)
  }
  const runs = [
    ...COUNTS.map((count) => ({ name: `list of ${count}`, run: () => limiter.sessions.list(`with ${count}`), count })),
    { name: `endAll of ${MOST}`, run: () => limiter.sessions.endAll(`with ${MOST}`), count: MOST },
  ]
  const times = runs.map(() => [] as number[])
  const samples = Math.max(10, Math.round(100 * effort))
  for (let sample = -5; sample < samples; sample++) {
    await restore()
    for (const [index, { name, run, count }] of runs.entries()) {
      const start = performance.now()
      const found = await run()
      if (sample >= 0) times[index]?.push(performance.now() - start)
      if ((typeof found === 'number' ? found : found.length) !== count) throw new Error(`${name} is wrong.`)
    }
  }
  client.destroy()
  const goals = [undefined, undefined, { atMost: 4 }, { atMost: 6 }]
  report.heading('A user with very many sessions')
  report.table([
    ['', 'p50', 'middle half', 'goal', 'samples'],
    ...runs.map(({ name }, index) => {
      const [all = [], goal] = [times[index], goals[index]]
      const half = `${quantile(all, 0.25).toFixed(2)}–${quantile(all, 0.75).toFixed(2)} ms`
      return [name, `${median(all).toFixed(2)} ms`, half, goal ? judged(median(all), goal) : '', String(samples)]
    }),
  ])
}
