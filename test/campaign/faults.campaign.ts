import { it } from 'vitest'
import { describeFaults } from '../support/fault-run.ts'
import { printFigures } from '../support/print-figures.ts'

const SEEDS = 200
const BATCH = 20

describeFaults((checkRun) => {
  for (let from = 1; from <= SEEDS; from += BATCH) {
    it(`rule 5: admit nobody too many, keep every deadline and survive, seeds ${from} to ${from + BATCH - 1}`, async () => {
      const seen = {
        answers: 0,
        unavailable: 0,
        slowestCallMs: 0,
        longestStallMs: 0,
        slowestRequestMs: 0,
        cutOff: 0,
        brokenOff: 0,
      }
      for (let seed = from; seed < from + BATCH; seed++) {
        const { run, times } = await checkRun(seed)
        seen.answers += Object.values(run.statuses).reduce((sum, count) => sum + count, 0)
        seen.unavailable += run.statuses[503] ?? 0
        seen.brokenOff += run.statuses[0] ?? 0
        seen.slowestCallMs = Math.max(seen.slowestCallMs, Math.round(times.slowestMs))
        seen.longestStallMs = Math.max(seen.longestStallMs, Math.round(times.stallMs))
        seen.slowestRequestMs = Math.max(seen.slowestRequestMs, Math.round(run.slowestRequestMs))
        seen.cutOff += run.cutOff.length
      }
      printFigures(`seeds ${from} to ${from + BATCH - 1}`, seen)
    })
  }
})
