import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printFigures } from '../support/print-figures.ts'
import { ENDINGS, type EndRace, type RaceOptions, startEndRace } from '../support/race-ends.ts'
import { broadcasting, raceTurns } from '../support/race-turns.ts'
import { rounds } from '../support/rounds.ts'
import { useRedis } from '../support/use-redis.ts'

const conditions: readonly [name: string, trials: number, options: RaceOptions][] = [
  ['nothing else', rounds(1000), {}],
  ['up to 4 ms of jitter', rounds(1000), { jitterMs: 4 }],
  ['connections that are closed again and again', rounds(300), { killEveryMs: 1000 }],
  ['a tracking table of 20 keys', rounds(300), { redis: ['--tracking-table-max-keys', '20'] }],
  ['four threads for input and output', rounds(100), { redis: ['--io-threads', '4', '--io-threads-do-reads', 'yes'] }],
]

for (const [name, trials, options] of conditions) {
  describe(`with ${name}`, () => {
    let race: EndRace
    beforeAll(async () => {
      race = await startEndRace(options)
    })
    afterAll(() => race.stop())

    it.each(ENDINGS)('no request that begins after the %s of its session finds it live', async (ending) => {
      const figures = await race.run(ending, trials)
      printFigures(`${ending}, ${name}`, figures)
      expect(figures).toMatchObject({ live: 0, revived: 0 })
      expect(figures.after).toBeGreaterThan(trials)
      expect(figures.confirmed).toBeGreaterThan(trials)
    })
  })
}

it('a race sees it when a session is read over another connection than the one on which changes are told', async () => {
  const race = await startEndRace({ isFlawed: true, jitterMs: 10 })
  try {
    const figures = await race.run('end all', rounds(100))
    printFigures('read over another connection', figures)
    expect(figures.live).toBeGreaterThan(0)
  } finally {
    await race.stop()
  }
})

describe('in one turn of the server', () => {
  const db = useRedis()

  it('no session that was read after its end is live', async () => {
    const figures = await raceTurns(db.server.url, rounds(5000))
    printFigures('one turn', figures)
    expect(figures).toMatchObject({ live: 0 })
    expect(figures.changed).toBeGreaterThan(figures.trials)
  })

  it('one is with BCAST, which tells of changes in its own time', async () => {
    const figures = await raceTurns(db.server.url, rounds(500), broadcasting)
    printFigures('one turn, BCAST', figures)
    expect(figures.live).toBeGreaterThan(0)
  })
})
