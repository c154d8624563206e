// npm run bench                     everything, in about fifteen minutes on a quiet machine
// npm run bench -- --quick          everything, shorter: less exact
// npm run bench -- --nodes=24,20    the applications on several versions of Node
// npm run bench -- --only=request,cold,clients,frameworks,login,users,options,start,memory,registry,account,live,
//     databases,comments
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { accountBench } from './account-bench.ts'
import { coldStartBench } from './cold-start-bench.ts'
import { commentsBench } from './comments-bench.ts'
import { databaseBench } from './database-bench.ts'
import { frameworkBench } from './framework-bench.ts'
import { liveBench } from './live-bench.ts'
import { loginBench } from './login-bench.ts'
import { loginOptions } from './login-options.ts'
import { memoryBench } from './memory-bench.ts'
import { NODES, redisVersion, stopAll } from './processes.ts'
import { registryBench } from './registry-bench.ts'
import { Report } from './report.ts'
import { clientBench, coldBench, requestBench } from './request-bench.ts'
import { usersBench } from './users-bench.ts'

const PARTS = {
  request: requestBench,
  cold: coldBench,
  clients: clientBench,
  frameworks: frameworkBench,
  login: loginBench,
  users: usersBench,
  options: loginOptions,
  start: coldStartBench,
  memory: memoryBench,
  registry: registryBench,
  account: accountBench,
  live: liveBench,
  databases: databaseBench,
  comments: commentsBench,
}
type Part = keyof typeof PARTS

const options = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  // Read by scripts/bench.mjs, which starts this on the first of these versions.
  nodes: { type: 'string' },
} as const
const { quick, only } = parseArgs({ options }).values
const names = (only?.split(',') ?? Object.keys(PARTS)) as Part[]
const unknown = names.find((name) => !(name in PARTS))
if (unknown !== undefined) throw new Error(`There is no part "${unknown}". There are ${Object.keys(PARTS).join(', ')}.`)

process.once('exit', stopAll)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const start = performance.now()
const report = new Report()
report.note(`${whatRuns()}. Load of the machine before: ${loadavg()[0]?.toFixed(1)}.`)
for (const name of names) await PARTS[name](report, quick ? 0.2 : 1)
const minutes = ((performance.now() - start) / 60_000).toFixed(1)
report.note(`\nMeasured in ${minutes} minutes. Load of the machine after: ${loadavg()[0]?.toFixed(1)}.`)
process.exit(0)

function whatRuns(): string {
  const packages = [
    'redis',
    'connect-redis',
    'express',
    'express-session',
    'passport',
    'fastify',
    'koa',
    'koa-session',
    'pg',
    'connect-pg-simple',
    'libsql',
  ].map((name) => {
    const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
    return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`
  })
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const day = new Date().toISOString().slice(0, 10)
  const node = `Node ${NODES.map(({ version }) => version).join(', ')}, Redis ${redisVersion()}`
  return `sessmgr ${version} on ${day}: ${node}, ${packages.join(', ')}; ${cpus().length} cores${quick ? '; --quick' : ''}`
}
