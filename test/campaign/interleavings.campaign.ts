import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { PendingLogins } from '../../src/limiter/pending-logins.ts'
import type { Token } from '../../src/sessions/session-record.ts'
import { AGING_PLACES } from '../support/aging-places.ts'
import { useInterleavedStores } from '../support/interleaved-stores.ts'
import { MODES, runInterleavings } from '../support/interleavings.ts'
import { judgeCommit } from '../support/judge-commit.ts'
import { createLimiterWorld, SimpleHost } from '../support/limiter-world.ts'
import { printFigures } from '../support/print-figures.ts'
import { raceProcesses } from '../support/race-processes.ts'

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

/** A call may wait for too long while other processes write to the file of SQLite. */
const EXPECTED = ['admitted', 'refused', 'chosen', 'again', 'used', 'siteLogouts', 'store_unavailable']

describe.each(Object.entries(AGING_PLACES))('four processes over %s', (name, open) => {
  it.each(MODES)('rule 5: logins, choices, ends, uses, idle releases and site-wide logouts, %s', async (logic) => {
    const maximum = 1 + (MODES.indexOf(logic) % 3)
    const { place, store, age } = await open()
    const users = Array.from({ length: 20 }, (_, index) => index + 1)
    const aged = new Set<Token>()
    let turn = 0
    // Makes one session at a time look unused.
    const repeatedly = async () => {
      const { sessions } = await store.sessions.read(users[turn++ % users.length] as number)
      const session = sessions[turn % Math.max(1, sessions.length)]
      if (session && (await age(session, IDLE_MS + 1000))) aged.add(session.record.token)
    }
    const settings = { maximum, logic, idle_release: IDLE_MS / 1000 }
    const load = { settings, users, logins: 1000, processes: 4, inFlight: 5, deadlineMs: 60_000, mixes: true }
    const race = await raceProcesses({ place, store, ...load, repeatedly })
    const { ended, kinds, commits, mostAtOnce, left } = race
    const idle = commits.flatMap((commit) => commit.idle)
    const figures = { commits: commits.length, ...ended, kinds, aged: aged.size, idle: idle.length, mostAtOnce }
    printFigures(`${name}, ${logic}, maximum ${maximum}`, figures)

    expect(commits.flatMap((commit) => judgeCommit(commit, maximum))).toEqual([])
    // Two commits on the same state would each be right, but not both.
    expect(new Set(commits.map(({ base }) => base)).size).toBe(commits.length)
    expect(mostAtOnce).toBeLessThanOrEqual(maximum)
    expect(Math.max(...left)).toBeLessThanOrEqual(maximum)
    expect(idle.filter((token) => !aged.has(token))).toEqual([])
    expect(Object.keys(ended).filter((it) => !EXPECTED.includes(it))).toEqual([])
    expect(ended.store_unavailable ?? 0).toBeLessThan(0.01 * load.processes * load.logins)
    expect(kinds.chosen).toBeGreaterThan(0)
    expect(Math.min(aged.size, ended.used ?? 0, ended.siteLogouts ?? 0)).toBeGreaterThan(0)
    const isKeeping = ['block', 'ask'].includes(logic)
    expect(kinds.displaced === undefined).toBe(isKeeping)
    expect(idle.length > 0).toBe(isKeeping)
  })

  it('rule 5: twenty posts at once of each pending login, by two processes, make one login', async () => {
    const { place, store } = await open()
    const settings = { maximum: 1, logic: 'ask' }
    const users = Array.from({ length: 50 }, (_, index) => index + 1)
    const here = createLimiterWorld({ store })
    for (const user of users) await here.login(user, {}, LIFE_MS)
    const pending = new PendingLogins(store)
    const secrets = await Promise.all(users.map((user) => pending.open(user, IDLE_MS)))
    const logins = 10 * secrets.length
    const load = { users, secrets, logins, processes: 2, inFlight: logins, deadlineMs: 60_000 }
    const { ended, kinds, announced, mostAtOnce, left } = await raceProcesses({ place, store, settings, ...load })
    printFigures(name, { ...ended, kinds, mostAtOnce })
    expect(ended).toEqual({ admitted: 0, refused: 0, chosen: users.length, gone: 19 * users.length })
    expect(kinds).toEqual({ chosen: users.length })
    expect(announced.started.length).toBe(users.length)
    expect([mostAtOnce, ...new Set(left)]).toEqual([1, 1])
  })
})
