import { afterAll, beforeAll, describe, it } from 'vitest'
import { expectSound } from '../support/expect-sound.ts'
import { type FaultWorld, runFaults, startFaultWorld } from '../support/fault-run.ts'
import { measureCalls } from '../support/measure-calls.ts'

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

  for (const seed of [1, 2, 3, 4, 5, 16]) {
    it(`rule 5: admit nobody too many, keep every deadline and survive, seed ${seed}`, async () => {
      expectSound(await runFaults(world, seed), calls.look())
    })
  }
})
