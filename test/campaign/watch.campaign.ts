import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printFigures } from '../support/print-figures.ts'
import { ENDINGS, type Ending, type EndRace, type RaceOptions, startEndRace } from '../support/race-ends.ts'
import { broadcasting, raceTurns } from '../support/race-turns.ts'
import { rounds } from '../support/rounds.ts'
import { useRedis } from '../support/use-redis.ts'

/** What a site-wide logout counts by is lost with everything else, and docs/stores.md says what follows. */
const BUT_SITE_WIDE = ENDINGS.filter((ending) => ending !== 'site-wide logout')

const conditions: readonly [name: string, trials: number, options: RaceOptions, endings?: readonly Ending[]][] = [
  ['nothing else', rounds(1000), {}],
  ['up to 4 ms of jitter', rounds(1000), { jitterMs: 4 }],
  ['a tracking table of 20 keys', rounds(300), { redis: ['--tracking-table-max-keys', '20'] }],
  ['four threads for input and output', rounds(100), { redis: ['--io-threads', '4', '--io-threads-do-reads', 'yes'] }],
  ['all connections closed again and again', rounds(300), { disturbance: 'all connections are closed' }],
  ['the watched connection closed again and again', rounds(300), { disturbance: 'the watched connection is closed' }],
  [
    'the other connection closed again and again',
    rounds(300),
    { disturbance: "the application's connection is closed" },
  ],
  ['clients evicted again and again', rounds(300), { disturbance: 'clients are evicted' }],
  ['everything deleted again and again', rounds(300), { disturbance: 'everything is deleted' }, BUT_SITE_WIDE],
  [
    'keys that expire evicted again and again',
    rounds(300),
    { disturbance: 'keys are evicted', redis: ['--maxmemory', '10mb', '--maxmemory-policy', 'volatile-lru'] },
  ],
]

for (const [name, trials, options, endings = ENDINGS] of conditions) {
  describe(`with ${name}`, () => {
    let race: EndRace
    beforeAll(async () => {
      race = await startEndRace(options)
    })
    afterAll(() => race?.stop())

    it.each(endings)('no request that begins after the %s of its session finds it live', async (ending) => {
      const figures = await race.run(ending, trials)
      printFigures(`${ending}, ${name}`, figures)
      expect(figures).toMatchObject({ live: 0, revived: 0 })
      expect(figures.after).toBeGreaterThan(trials)
      expect(figures.confirmed).toBeGreaterThan(trials)
    })
  })
}

describe.each(['the primary dies', 'the primary becomes a replica'] as const)(
  'while %s again and again',
  (failover) => {
    let race: EndRace
    beforeAll(async () => {
      race = await startEndRace({ failover })
    })
    afterAll(() => race?.stop())

    // A login does not wait for the replica, so what it displaces may be back: docs/stores.md says so.
    it.each(ENDINGS.filter((ending) => ending !== 'displacement'))(
      'no request that begins after the %s of its session was confirmed finds it live',
      async (ending) => {
        const trials = rounds(300)
        const figures = await race.run(ending, trials)
        printFigures(`${ending}, while ${failover}`, figures)
        expect(figures).toMatchObject({ live: 0, revived: 0 })
        expect(figures.after).toBeGreaterThan(figures.trials)
        expect(figures.trials).toBeGreaterThan(trials / 4)
        expect(figures.disturbances).toBeGreaterThan(0)
      },
    )
  },
)

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
