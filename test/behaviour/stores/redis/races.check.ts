import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Arena, seededUser, startArena } from '../../../support/arena.ts'
import { inParallel } from '../../../support/in-parallel.ts'
import { ENDINGS, type EndRace, startEndRace } from '../../../support/race-ends.ts'
import { holdRequests } from '../../../support/race-held-requests.ts'
import { expectExact, raceLogins } from '../../../support/race-logins.ts'
import { raceStaleSessions } from '../../../support/race-stale-sessions.ts'

const MODES = ['allow', 'logout_oldest', 'block']
const LOGINS = 60

describe('two processes on one Redis, whose clocks are four minutes apart,', () => {
  let arena: Arena
  beforeAll(async () => {
    arena = await startArena({ processes: 2, users: 260, clockSkewMs: [-120_000, 120_000] })
  })
  afterAll(() => arena.stop())

  const signIn = async (process: number, user: number) => {
    const { login, password } = seededUser(user)
    const { cookie, status } = await arena.load.login(arena.origins[process] as string, login, password)
    expect(status).toBe(200)
    return cookie
  }
  const statusIn = async (process: number, cookie?: string) =>
    (await arena.load.send(arena.origins[process] as string, '/me', { cookie })).status

  it.each(MODES)('rule 5: never hold more than 1 or 3, and lose no login, in the mode %s', async (logic) => {
    for (const maximum of [1, 3]) {
      const settings = { maximum, logic }
      const user = 1 + 10 * MODES.indexOf(logic) + maximum
      const race = await raceLogins(arena, { user, logins: LOGINS, settings })
      expectExact(race, LOGINS, settings)
      expect(race.samples).toBeGreaterThan(5)
    }
  })

  it('let no slow request bring back a session that ended through the other process', async () => {
    const held = await holdRequests(arena, { from: 200, trials: 30 })
    expect(held).toMatchObject({ revivedInGuard: 0, revivedInRedis: 0 })
    expect(held.underWay).toBeGreaterThan(2)
  })

  it('rule 16: fire sessmgr_session_invalidated once for each stale session, however many requests come for it', async () => {
    const stale = await raceStaleSessions(arena, { from: 150, sessions: 4, requestsEach: 50 })
    expect(stale).toEqual({ statuses: { 401: 4 * 100 }, fired: { 1: 4 }, strange: 0 })
  })

  it('let no slow request bring back a session that a site-wide logout has made stale', async () => {
    const held = await holdRequests(arena, { from: 160, trials: 30, everybody: true })
    expect(held).toMatchObject({ revivedInGuard: 0, revivedInRedis: 0 })
    expect(held.underWay).toBeGreaterThan(10)
  })

  it('do run on different clocks', async () => {
    const expiries = await inParallel(2, 2, async (process) => {
      const { login, password } = seededUser(218)
      const { headers } = await arena.load.login(arena.origins[process] as string, login, password)
      return new Date(/Expires=([^;]+)/.exec(String(headers['set-cookie']))?.[1] ?? '').getTime()
    })
    const [slow = 0, fast = 0] = expiries
    expect(fast - slow).toBeGreaterThan(230_000)
  })

  it('rule 8: agree on which session is the oldest, whichever clock it was begun by', async () => {
    await arena.limiter.settings.update({ maximum: 2, logic: 'logout_oldest' })
    for (const [user, order] of [[211, [1, 0, 0]] as const, [212, [0, 1, 0]] as const, [213, [1, 0, 1]] as const]) {
      const cookies: (string | undefined)[] = []
      for (const process of order) cookies.push(await signIn(process, user))
      for (const process of [0, 1]) {
        expect(await Promise.all(cookies.map((cookie) => statusIn(process, cookie)))).toEqual([401, 200, 200])
      }
    }
  })
})

const TRIALS = 40

describe('a process that is told of changes up to 4 ms late', () => {
  let race: EndRace
  beforeAll(async () => {
    race = await startEndRace({ jitterMs: 4 })
  })
  afterAll(() => race?.stop())

  it('finds no session live for a request that begins after its end, whatever ends it', async () => {
    for (const ending of ENDINGS) {
      const { after, live, revived, confirmed } = await race.run(ending, TRIALS)
      expect({ live, revived }, ending).toEqual({ live: 0, revived: 0 })
      expect(after).toBeGreaterThan(TRIALS)
      // Most requests have asked for nothing but their session.
      expect(confirmed).toBeGreaterThan(TRIALS)
    }
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
