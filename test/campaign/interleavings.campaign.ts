import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { redisStore } from '../../src/redis.ts'
import { sqliteStore } from '../../src/sqlite.ts'
import { useInterleavedStores } from '../support/interleaved-stores.ts'
import { runInterleavings } from '../support/interleavings.ts'
import { createLimiterWorld, SimpleHost } from '../support/limiter-world.ts'
import { printFigures } from '../support/print-figures.ts'
import { raceProcesses } from '../support/race-processes.ts'
import { connectRedis } from '../support/redis-client.ts'
import { startRedis } from '../support/redis-server.ts'

const IDLE_MS = 300_000
const LIFE_MS = 86_400_000
const stores = useInterleavedStores()

describe.each(Object.entries(stores))('over %s', (name, open) => {
  it('rule 5: 500 random interleavings of logins, choices, ends, uses and site-wide logouts keep the limit', async () => {
    const { faults, ...figures } = await runInterleavings(open(), 500, 1000)
    printFigures(name, figures)
    expect(faults).toEqual([])
  })

  it('rule 5: of 1,000 unused sessions, each is either used or ended when both happen at once', async () => {
    const store = open()
    const host = new SimpleHost()
    const settings = { maximum: 1, logic: 'block', idle_release: IDLE_MS / 1000 }
    const start = (process: number) =>
      createLimiterWorld({ store: store.open(process), host, settings, touchEveryMs: 0 })
    const before = start(0)
    const users = Array.from({ length: 1000 }, (_, index) => index + 1)
    for (const user of users) await before.login(user, {}, LIFE_MS)
    await store.pass(IDLE_MS)
    const [here, there] = [start(1), start(2)]
    const figures = { used: 0, ended: 0 }
    for (const user of users) {
      const [{ token } = { token: '' }] = await here.limiter.sessions.list(user)
      // From four turns after the login to four turns before it.
      const lead = (user % 9) - 4
      const use = turns(-lead).then(() => there.limiter.touch(user, token, LIFE_MS))
      const login = turns(lead).then(() => here.login(user, {}, LIFE_MS))
      const isUsed = await use
      expect((await login) === undefined, `user ${user}`).toBe(isUsed)
      expect(await here.limiter.sessions.count(user)).toBe(1)
      figures[isUsed ? 'used' : 'ended'] += 1
    }
    printFigures(name, figures)
    expect(Math.min(figures.used, figures.ended)).toBeGreaterThan(0)
  })
})

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await nextTurn()
}

const places = {
  async Redis() {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const client = await connectRedis(server.url)
    onTestFinished(() => client.destroy())
    return { place: { url: server.url }, store: redisStore({ client }) }
  },
  async SQLite() {
    const directory = mkdtempSync(join(tmpdir(), 'sessmgr-choices-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const path = join(directory, 'sessmgr.db')
    const store = sqliteStore({ path })
    onTestFinished(() => store.close())
    return { place: { path }, store }
  },
}

it.each(Object.entries(places))('rule 5: users of four processes choose sessions, over %s', async (name, open) => {
  const users = Array.from({ length: 20 }, (_, index) => index + 1)
  const load = { settings: { maximum: 2, logic: 'ask' }, users, logins: 1000, processes: 4, endsToo: true }
  const { ended, mostAtOnce, left } = await raceProcesses({
    ...(await open()),
    ...load,
    inFlight: 5,
    deadlineMs: 60_000,
  })
  printFigures(name, { ...ended, mostAtOnce })
  expect(mostAtOnce).toBeLessThanOrEqual(2)
  expect(Math.max(...left)).toBeLessThanOrEqual(2)
  expect(ended.chosen).toBeGreaterThan(100)
})
