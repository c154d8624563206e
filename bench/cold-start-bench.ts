import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchNode, NODES } from './processes.ts'
import { type Goal, judged, type Report } from './report.ts'
import { median, quantile, shuffled } from './statistics.ts'

const STARTS = 31
const RUNS = String(STARTS)
const LOADED = {
  'bare Node': '',
  "import 'sessmgr'": "import 'sessmgr'",
  'the same from the compile cache': "import 'sessmgr'",
  "require('sessmgr')": "import { createRequire } from 'node:module'; createRequire(import.meta.url)('sessmgr')",
  'express and express-session': "import 'express'; import 'express-session'",
  'express, express-session and sessmgr': "import 'express'; import 'express-session'; import 'sessmgr'",
} as const
type Name = keyof typeof LOADED

/** Measures how much longer Node takes to start if it loads the package. */
export function coldStartBench(report: Report): void {
  const cache = mkdtempSync(join(tmpdir(), 'sessmgr-bench-'))
  process.once('exit', () => rmSync(cache, { recursive: true, force: true }))
  const rows = NODES.flatMap((node) => rowsOf(node, cache))
  report.heading('Start')
  report.table([['', 'median', 'middle half of the turns', 'CPU time', 'goal', 'starts of each'], ...rows])
}

function rowsOf(node: BenchNode, cache: string): string[][] {
  const names = Object.keys(LOADED) as Name[]
  const times = Object.fromEntries(names.map((name) => [name, [] as Start[]])) as Record<Name, Start[]>
  const run = (name: Name) => start(node.program, LOADED[name], /cache/.test(name) ? { NODE_COMPILE_CACHE: cache } : {})
  // The first start fills the cache.
  run('the same from the compile cache')
  for (let turn = 0; turn < STARTS; turn++) for (const name of shuffled(names)) times[name].push(run(name))

  const all = (name: Name, key: keyof Start) => times[name].map((one) => one[key])
  const half = (values: readonly number[]) =>
    `${quantile(values, 0.25).toFixed(1)}–${quantile(values, 0.75).toFixed(1)} ms`
  const above = (name: Name, base: Name, goal?: Goal) => {
    const more = (key: keyof Start) => median(all(name, key)) - median(all(base, key))
    const turns = times[name].map((one, turn) => one.ms - (times[base][turn]?.ms ?? 0))
    const judgement = goal ? judged(more('ms'), goal) : ''
    const text = `${node.name}, ${name} above ${base}`
    return [text, `${more('ms').toFixed(1)} ms`, half(turns), `${more('cpu').toFixed(1)} ms`, judgement, RUNS]
  }
  const bare = all('bare Node', 'ms')
  const cpu = `${median(all('bare Node', 'cpu')).toFixed(1)} ms`
  return [
    [node.name, `${median(bare).toFixed(1)} ms`, half(bare), cpu, '', RUNS],
    above("import 'sessmgr'", 'bare Node', { atMost: 12 }),
    above('the same from the compile cache', 'bare Node'),
    above("require('sessmgr')", 'bare Node'),
    above('express, express-session and sessmgr', 'express and express-session'),
  ]
}

interface Start {
  readonly ms: number
  readonly cpu: number
}

const CPU =
  'process.on("exit", () => { const { user, system } = process.cpuUsage(); console.log((user + system) / 1000) })'

function start(program: string, code: string, env: Record<string, string>): Start {
  const begin = performance.now()
  const parameters = ['--input-type=module', '--eval', `${code}\n${CPU}`]
  const { status, stdout } = spawnSync(program, parameters, { encoding: 'utf8', env: { ...process.env, ...env } })
  if (status !== 0) throw new Error(`Node could not run ${code}`)
  return { ms: performance.now() - begin, cpu: Number(stdout) }
}
