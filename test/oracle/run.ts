// Compares the rules of this checkout with the recorded ones; see README.md.
//   npx tsx test/oracle/run.ts                          all recorded histories
//   npx tsx test/oracle/run.ts --every 10            only one of ten parts of the random histories
//   npx tsx test/oracle/run.ts --record              records the rules of this checkout, and what they make of the histories
//   npx tsx test/oracle/run.ts --record-histories    records what the recorded rules make of the histories, after these have changed
//   npx tsx test/oracle/run.ts --seeds 200000-210000 other random histories, on both rules
//   npx tsx test/oracle/run.ts --show 17             prints a random history
//   npx tsx test/oracle/run.ts --store redis         the rules over a real Redis server, on 500 histories without a clock
//   npx tsx test/oracle/run.ts --faults              checks that seeded faults are found
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkFaults } from './faults.ts'
import { namedHistories } from './histories/named.ts'
import { recordHosts, replayHosts } from './hosts/replay-hosts.ts'
import { replayOnRedis } from './redis.ts'
import { bundleRules, CACHE, ROOT } from './replay/bundle.ts'
import { runTasks } from './replay/pool.ts'
import { readHashes, recordedRules, writeHashes, writeRules } from './replay/recording.ts'
import { checkAllowances, reportOf } from './replay/report.ts'
import type { Rules, Task } from './replay/worker.ts'

const PART = 500

const { values } = parseArgs({
  options: {
    record: { type: 'boolean' },
    'record-histories': { type: 'boolean' },
    faults: { type: 'boolean' },
    seeds: { type: 'string' },
    show: { type: 'string' },
    store: { type: 'string' },
    every: { type: 'string', default: '1' },
    histories: { type: 'string', default: '100000' },
  },
})

const HISTORIES = Number(values.histories)

/** Splits the random histories into tasks. */
function tasksOf(mode: Task['mode'], from: number, to: number, hashes?: Uint16Array): Task[] {
  return Array.from({ length: Math.ceil((to - from) / PART) }, (_, index) => {
    const first = from + index * PART
    const last = Math.min(to, first + PART)
    return { from: first, to: last, step: 1, mode, hashes: hashes?.subarray(first - from, last - from) }
  })
}

async function main(): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  if (values.faults) return checkFaults()
  const current = await bundleRules(join(CACHE, `rules-${process.pid}.mjs`))
  if (values.record) writeRules(await bundleRules(join(CACHE, `minified-${process.pid}.mjs`), { minify: true }))
  if (values.show) return show(Number(values.show), { rules: current, recorded: current })
  const recorded = recordedRules()
  if (values.record) {
    const left = await recordHosts()
    console.log(`Recorded the host suite, without tests that tell something else each time:\n${left.join('\n')}`)
  }
  if (values.record || values['record-histories']) return record({ rules: recorded, recorded })
  const rules = { rules: current, recorded }
  if (values.seeds) {
    const [from = 0, to = from + 1] = values.seeds.split('-').map(Number)
    return replay(tasksOf('both', from, to), rules)
  }
  if (values.store === 'redis') return replayRedis(recorded)
  checkAllowances()
  const { about, hashes } = readHashes()
  const tasks = tasksOf('hashes', 1, about.histories + 1, hashes)
  await replay([named('both'), ...tasks.filter((_, index) => index % Number(values.every) === 0)], rules)
  const { tests, differences } = await replayHosts()
  for (const words of differences) console.log(`\n${words}`)
  console.log(`${tests} tests of the host suite: ${differences.length} differ.`)
  if (differences.length > 0) process.exitCode = 1
}

const named = (mode: Task['mode']): Task => ({ from: 0, to: 0, step: 1, mode, histories: namedHistories })

async function record(rules: Rules): Promise<void> {
  const results = await runTasks(tasksOf('record', 1, HISTORIES + 1), rules, progress(HISTORIES))
  const hashes = new Uint16Array(HISTORIES)
  for (const [index, result] of results.entries()) hashes.set(result.hashes, index * PART)
  const commands = results.reduce((sum, result) => sum + result.commands, 0)
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
  writeHashes({ histories: HISTORIES, commands, commit }, hashes)
  console.log(`\nRecorded ${HISTORIES} random histories with ${commands} commands.`)
}

async function replay(tasks: readonly Task[], rules: Rules): Promise<void> {
  const from = performance.now()
  const whole = tasks.reduce((sum, task) => sum + (task.histories?.length ?? task.to - task.from), 0)
  const results = await runTasks(tasks, rules, progress(whole))
  const report = reportOf(results)
  console.log(`\n${report.words}\n${Math.round((performance.now() - from) / 1000)} s.`)
  if (report.differences > 0) process.exitCode = 1
}

/** How many random histories are compared over Redis. */
const ON_REDIS = 500

async function replayRedis(recorded: string): Promise<void> {
  const differences = await replayOnRedis(ON_REDIS, recorded)
  for (const words of differences) console.log(`\n${words}`)
  console.log(`${differences.length} histories differ over Redis.`)
  if (differences.length > 0) process.exitCode = 1
}

async function show(number: number, rules: Rules): Promise<void> {
  const task: Task = { from: number, to: number + 1, step: 1, mode: 'words' }
  const [result] = await runTasks([task], rules)
  console.log(result?.words.join('\n'))
}

/** Prints a dot for each twentieth of the histories. */
function progress(whole: number) {
  let done = 0
  return ({ histories }: { readonly histories: number }) => {
    const before = Math.floor((20 * done) / whole)
    done += histories
    process.stdout.write('.'.repeat(Math.floor((20 * done) / whole) - before))
  }
}

try {
  await main()
} finally {
  for (const kind of ['rules', 'minified', 'recorded', 'worker'])
    rmSync(join(CACHE, `${kind}-${process.pid}.mjs`), { force: true })
}
// Some services keep connections and timers open.
process.exit()
