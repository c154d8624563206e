import { spawnSync } from 'node:child_process'
import { type Goal, judged, type Report } from './report.ts'
import { median, quantile, shuffled } from './statistics.ts'

const STARTS = 31
const RUNS = String(STARTS)
const LOADED = {
  'bare Node': '',
  "import 'sessmgr'": "import 'sessmgr'",
  "require('sessmgr')": "import { createRequire } from 'node:module'; createRequire(import.meta.url)('sessmgr')",
  'express and express-session': "import 'express'; import 'express-session'",
  'the same and sessmgr': "import 'express'; import 'express-session'; import 'sessmgr'",
} as const
type Name = keyof typeof LOADED

/** Measures how much longer Node takes to start if it loads the package. */
export function coldStartBench(report: Report): void {
  const names = Object.keys(LOADED) as Name[]
  const times = Object.fromEntries(names.map((name) => [name, [] as Start[]])) as Record<Name, Start[]>
  for (let run = 0; run < STARTS; run++) for (const name of shuffled(names)) times[name].push(start(LOADED[name]))

  const all = (name: Name, key: keyof Start) => times[name].map((one) => one[key])
  const above = (name: Name, base: Name, goal?: Goal) => {
    const [ms, cpu] = [
      median(all(name, 'ms')) - median(all(base, 'ms')),
      median(all(name, 'cpu')) - median(all(base, 'cpu')),
    ]
    const turns = times[name].map((one, turn) => one.ms - (times[base][turn]?.ms ?? 0))
    const half = `${quantile(turns, 0.25).toFixed(1)}–${quantile(turns, 0.75).toFixed(1)} ms`
    return [
      `${name} above ${base}`,
      `${ms.toFixed(1)} ms`,
      half,
      `${cpu.toFixed(1)} ms`,
      goal ? judged(ms, goal) : '',
      RUNS,
    ]
  }
  const bare = all('bare Node', 'ms')
  const half = `${quantile(bare, 0.25).toFixed(1)}–${quantile(bare, 0.75).toFixed(1)} ms`
  const cpu = `${median(all('bare Node', 'cpu')).toFixed(1)} ms`
  report.heading('Start')
  report.table([
    ['', 'median', 'middle half of the turns', 'CPU time', 'goal', 'starts of each'],
    ['bare Node', `${median(bare).toFixed(1)} ms`, half, cpu, '', RUNS],
    above("import 'sessmgr'", 'bare Node', { atMost: 15 }),
    above("require('sessmgr')", 'bare Node'),
    above('the same and sessmgr', 'express and express-session'),
  ])
}

interface Start {
  readonly ms: number
  readonly cpu: number
}

const CPU =
  'process.on("exit", () => { const { user, system } = process.cpuUsage(); console.log((user + system) / 1000) })'

function start(code: string): Start {
  const begin = performance.now()
  const parameters = ['--input-type=module', '--eval', `${code}\n${CPU}`]
  const { status, stdout } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`Node could not run ${code}`)
  return { ms: performance.now() - begin, cpu: Number(stdout) }
}
