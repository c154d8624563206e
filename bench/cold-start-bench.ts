import { spawnSync } from 'node:child_process'
import { median, spread } from './support.ts'

const RUNS = 31
const GOAL_MS = 40

/** Measures how much longer Node takes to start when it loads the package. */
export function coldStartBench(print: (line: string) => void): void {
  const bare: number[] = []
  const loaded: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    bare.push(startUp(''))
    loaded.push(startUp("import 'sessmgr'"))
  }
  const above = median(loaded) - median(bare)
  const verdict = above <= GOAL_MS ? '' : '  MISSED'
  print(`import 'sessmgr' above bare Node   ${above.toFixed(1)} ms (goal: at most ${GOAL_MS})${verdict}`)
  print(
    `  bare Node ${median(bare).toFixed(1)} ms, spread ±${spread(bare).toFixed(0)} %, ${RUNS} starts each, in turns`,
  )
}

function startUp(code: string): number {
  const start = performance.now()
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', code])
  if (status !== 0) throw new Error(`Node did not run ${code}`)
  return performance.now() - start
}
