import { describe, expect, test } from 'vitest'
import { FUZZ_TARGETS } from '../../support/fuzz-targets.ts'
import { runFuzz } from '../../support/run-fuzz.ts'

// Another one each time. What fails names the seed of the request: runFuzz(target, seed, 1) repeats it.
const SEED = Math.floor(Math.random() * 1e9)

describe(`requests of chance, with the cookie of an ended session, from seed ${SEED}`, () => {
  test.each(FUZZ_TARGETS)('%s answers each, and none ends the process', async (_name, start) => {
    const { failures, statuses } = await runFuzz(await start(), SEED, 50)
    expect(failures).toEqual([])
    expect(Object.keys(statuses).length).toBeGreaterThan(2)
  })
})
