import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENDINGS, type EndRace, startEndRace } from '../../support/race-ends.ts'

const TRIALS = 40

describe('a process that is told of changes up to 4 ms late', () => {
  let race: EndRace
  beforeAll(async () => {
    race = await startEndRace({ jitterMs: 4 })
  })
  afterAll(() => race?.stop())

  it.each(ENDINGS)('finds no session live for a request that begins after its end: %s', async (ending) => {
    const { after, live, revived, confirmed } = await race.run(ending, TRIALS)
    expect({ live, revived }).toEqual({ live: 0, revived: 0 })
    expect(after).toBeGreaterThan(TRIALS)
    // Most requests have asked for nothing but their session.
    expect(confirmed).toBeGreaterThan(TRIALS)
  })
})

it('a race would see it, if sessions were read over another connection than the one on which changes are told', async () => {
  const race = await startEndRace({ jitterMs: 20, isFlawed: true })
  try {
    let live = 0
    // By chance, so it goes on until it is seen.
    for (let tries = 0; tries < 50 && live === 0; tries++) live += (await race.run('end all', 10)).live
    expect(live).toBeGreaterThan(0)
  } finally {
    await race.stop()
  }
})
