import { afterAll, beforeAll, describe } from 'vitest'
import { expectSound } from './expect-sound.ts'
import { type FaultRun, type FaultWorld, runFaults, startFaultWorld } from './fault-run.ts'
import { type CallTimes, measureCalls } from './measure-calls.ts'

/** Runs one seed and checks the result. */
type CheckedRun = (seed: number) => Promise<{ run: FaultRun; times: CallTimes }>

/** Describes what two applications do while their connections to Redis fail. */
export function describeFaults(tests: (checkRun: CheckedRun) => void): void {
  describe('two applications whose connections to Redis are delayed, reset, cut, swallowed or lose replies', () => {
    let world: FaultWorld
    const calls = measureCalls()
    beforeAll(async () => {
      world = await startFaultWorld()
    })
    afterAll(async () => {
      calls.stop()
      await world.stop()
    })

    tests(async (seed) => {
      const run = await runFaults(world, seed)
      const times = calls.look()
      expectSound(run, times)
      return { run, times }
    })
  })
}
