import { inTurns, ratio, redisUsage, totals } from './in-turns.ts'
import { startApp, startRedis } from './processes.ts'
import { judged, type Report } from './report.ts'
import { signedIn } from './request-bench.ts'

const KINDS = ['plain', 'fallback', 'protected'] as const
const SESSIONS = 1000
const FRAMEWORKS = [
  { name: 'Fastify', framework: 'fastify', goal: { atLeast: 1 } },
  { name: 'Koa', framework: 'koa', goal: { atLeast: 0.95 } },
  { name: 'explicit calls, bare http', framework: 'explicit', goal: { atLeast: 0.85 } },
]

/** Measures an authenticated request in the other frameworks. */
export async function frameworkBench(report: Report, effort: number): Promise<void> {
  const rounds = Math.max(4, Math.round(40 * effort))
  const rows = [
    ['', 'plain', 'without reading', 'protected', 'goal', 'CPU per request', 'commands; Redis CPU', 'slices'],
  ]
  for (const { name, framework, goal } of FRAMEWORKS) {
    const server = await startRedis()
    const redis = await redisUsage(server.url)
    report.progress(name)
    const results = await inTurns({
      kinds: KINDS,
      connections: 16,
      rounds,
      start: (kind, node) =>
        startApp('framework-app.ts', { kind, node, env: { REDIS_URL: server.url, FRAMEWORK: framework } }),
      prepare: (app, load) => signedIn(app, load, SESSIONS),
      usage: redis.usage,
    })
    for (const { node, slices } of results) {
      const reached = ratio(slices.protected, slices.plain, 'perSecond')
      const [plain, guarded] = [totals(slices.plain), totals(slices.protected)]
      rows.push([
        `${node.name}, ${name}`,
        `${plain.perSecond.toFixed(0)} per second, ${plain.cpu.toFixed(0)} µs`,
        ratio(slices.fallback, slices.plain, 'perSecond').text,
        reached.text,
        judged(reached.value, goal),
        ratio(slices.protected, slices.plain, 'cpu').text,
        [plain, guarded].map((one) => `${one.commands.toFixed(2)}; ${one.serverCpu.toFixed(1)} µs`).join(' → '),
        String(rounds),
      ])
    }
    redis.stop()
    server.stop()
  }
  report.heading('`GET /me` in other frameworks, 16 connections')
  report.table(rows)
}
