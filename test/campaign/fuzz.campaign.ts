import { expect, onTestFinished, test } from 'vitest'
import { ExampleProcess } from '../support/example-process.ts'
import { exampleTarget, FUZZ_TARGETS } from '../support/fuzz-targets.ts'
import { printFigures } from '../support/print-figures.ts'
import { type FuzzTarget, runFuzz } from '../support/run-fuzz.ts'

// FUZZ_SEED repeats a run. Of one that fails, each line names the seed of its request.
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 1e9))
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 16_667)

async function startExample(): Promise<FuzzTarget> {
  const example = await ExampleProcess.start()
  onTestFinished(async () => {
    expect(await example.stop()).toEqual({ code: 0, signal: null })
    expect(example.output).not.toMatch(/unhandled|uncaught/i)
  })
  return exampleTarget(example)
}

test.each([...FUZZ_TARGETS, ['the example', startExample] as const])(
  `%s answers each of ${REQUESTS} requests of chance, and none ends the process, from seed ${SEED}`,
  async (name, start) => {
    const target = await start()
    const { failures, ...figures } = await runFuzz(target, SEED, REQUESTS)
    printFigures(`fuzz, ${name}, seed ${SEED}`, { ...figures, failures: failures.length })
    expect(failures).toEqual([])
    expect((await fetch(target.origin)).status).toBeLessThan(500)
  },
)
