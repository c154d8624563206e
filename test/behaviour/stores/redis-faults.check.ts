import { it } from 'vitest'
import { describeFaults } from '../../support/describe-faults.ts'

describeFaults((checkRun) => {
  for (const seed of [1, 2, 3, 4, 5, 16]) {
    it(`rule 5: admit nobody too many, keep every deadline and survive, seed ${seed}`, async () => {
      await checkRun(seed)
    })
  }
})
