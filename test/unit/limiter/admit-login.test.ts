import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import type { CodeSettings } from '../../../src/options/setting-rules.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { aWarning } from '../../support/a-warning.ts'
import { createLimiterWorld, type LimiterWorld } from '../../support/limiter-world.ts'

const nothing = { ip: null, userAgent: null, device: null, generation: 0 }
const attempt = (userId: number) => ({ userId, ip: null, userAgent: null })
const HOME = { device: 'home-12345678901' }
const WORK = { device: 'work-12345678901' }

/** Puts another process behind a store: `meddle` runs before each commit, and may spoil it. */
function meddled(meddle: (commits: number) => Promise<void>): { store: SessmgrStore; commits: () => number } {
  const store = memoryStore()
  const commit = store.sessions.commit.bind(store.sessions)
  let commits = 0
  store.sessions.commit = async (...parameters) => {
    commits += 1
    await meddle(commits)
    return commit(...parameters)
  }
  return { store, commits: () => commits }
}

/** Logs a user in through another process, past every limit. */
async function logInElsewhere({ sessions }: SessmgrStore, { host }: LimiterWorld, userId: number): Promise<string> {
  const { sessionId, ttlMs } = host.establish()
  await sessions.adopt(userId, { sessionId, ttlMs, ...nothing })
  return sessionId
}

describe('an admitted login', () => {
  it('is registered with what is known of its client, cut off where it is long, and told without its raw id', async () => {
    const { limiter, host, clock } = createLimiterWorld({ settings: { maximum: 2 } })
    const [ip, userAgent] = ['1'.repeat(64), 'a'.repeat(512)]
    const long = { userId: 'u', ip: `${ip}2`, userAgent: `${userAgent}b` }
    const admission = await limiter.admit(long, async () => host.establish(5000, 'raw'))
    await limiter.admit({ userId: 'u' }, async () => host.establish())
    const [session, unknown] = await limiter.sessions.list('u')
    expect(admission).toEqual({ admitted: true, session })
    const expiresAt = clock.now() + 5000
    expect(session).toMatchObject({ userId: 'u', ip, userAgent, token: tokenOf('raw'), expiresAt })
    expect(unknown).toMatchObject({ ip: null, userAgent: null, device: null })
    expect(JSON.stringify(admission)).not.toContain('raw')
  })

  it('rule 7: replaces the session of its browser, by its cookie or its device, and displaces nobody', async () => {
    for (const logic of ['allow', 'block', 'logout_oldest']) {
      const { host, fired, login, live } = createLimiterWorld({ settings: { maximum: 2, logic } })
      const first = await login(7, HOME)
      const other = await login(7, WORK)
      const second = await login(7, HOME)
      expect(await live(7), logic).toEqual([other, second])
      const third = await login(7, { replaces: second })
      expect(await live(7), logic).toEqual([other, third])
      expect([[...host.ids], fired], logic).toEqual([[other, third], []])
      expect(first).not.toBe(second)
    }
  })

  it('replaces it under bypass too, but not what a site-wide logout has ended', async () => {
    const store = memoryStore()
    const { limiter, login, live } = createLimiterWorld({ store, settings: { maximum: 5, logic: 'allow' } })
    limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    await login(7, HOME)
    await limiter.sessions.logoutAllUsers()
    await login(7, HOME)
    const last = await login(7, HOME)
    expect(await live(7)).toEqual([last])
    expect((await store.sessions.read(7)).sessions).toHaveLength(2)
  })
})

it('a login is registered although the number of site-wide logouts cannot be read in that very moment', async () => {
  const store = memoryStore()
  const current = store.epoch.current.bind(store.epoch)
  let reads = 0
  store.epoch.current = async () => {
    reads += 1
    if (reads === 2) throw new Error('down')
    return current()
  }
  const { login, live } = createLimiterWorld({ store })
  const id = await login(7)
  expect([reads, await live(7)]).toEqual([2, [id]])
})

describe('a login that fails', () => {
  it('registers nothing when the host cannot establish the session, and rule 12: when a filter fails', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld()
    const old = await login(7)
    const failed = limiter.admit(attempt(7), () => Promise.reject(new Error('the session store is down')))
    await expect(failed).rejects.toThrow('the session store is down')
    limiter.hooks.addFilter('sessmgr_bypass', 'broken', () => {
      throw new Error('broken')
    })
    await expect(login(7)).rejects.toMatchObject({ code: 'hook_failed' })
    expect([await live(7), [...host.ids], fired]).toEqual([[old], [old], []])
  })

  it('takes the new session back when it cannot be registered', async () => {
    for (const [fault, isAway] of [
      [new Error('the store is down'), false],
      [new SessmgrError('login_conflict', 'another login'), false],
      [new SessmgrError('store_unavailable', 'the store is down'), true],
    ] as const) {
      const world = createLimiterWorld({ store: meddled(() => Promise.reject(fault)).store })
      await expect(world.login(7)).rejects.toBe(fault)
      expect([world.host.ids.size, world.fired, world.logged]).toEqual([0, [], []])
      expect(world.limiter.isStoreAway, fault.message).toBe(isAway)
    }
  })
})

describe('a login whose outcome is unknown', () => {
  /** A store that carries a commit out, and then loses the answer. */
  function answerLost(): SessmgrStore {
    const store = memoryStore()
    const commit = store.sessions.commit.bind(store.sessions)
    store.sessions.commit = async (...parameters) => {
      await commit(...parameters)
      throw new Error('the answer was lost')
    }
    return store
  }

  it('is taken back in both stores', async () => {
    const store = answerLost()
    const { host, fired, login } = createLimiterWorld({ store })
    await expect(login(7)).rejects.toThrow('the answer was lost')
    expect([host.ids.size, (await store.sessions.read(7)).sessions, fired]).toEqual([0, [], []])
  })

  it('tells the fault itself, and logs without a raw id, when it cannot be taken back', async () => {
    const store = answerLost()
    store.sessions.undo = () => Promise.reject(new Error('still down'))
    const { limiter, host, logged } = createLimiterWorld({ store })
    const revert = () => Promise.reject(new Error('down too, with raw-id'))
    const login = limiter.admit(attempt(7), async () => ({ ...host.establish(1000, 'raw-id'), revert }))
    await expect(login).rejects.toThrow('the answer was lost')
    const message = expect.stringMatching(/^A failed login could not be undone in the stores\. .*will expire\./)
    expect(logged).toEqual([[message, { error: expect.stringContaining('down too') }]])
    expect(JSON.stringify(logged)).not.toContain('raw-id')
  })
})

describe('a login that races against another process', () => {
  it('rule 5: decides anew on what the other has changed, and rule 11: is refused after all in block', async () => {
    for (const logic of ['allow', 'block']) {
      let elsewhere = ''
      const { store, commits } = meddled(async (count) => {
        if (count === 1) elsewhere = await logInElsewhere(store, world, 7)
      })
      const world = createLimiterWorld({ store, settings: { logic } })
      const own = await world.login(7)
      const isRefused = logic === 'block'
      const action = isRefused ? 'sessmgr_login_blocked' : 'sessmgr_destroy_all_sessions'
      expect([own === undefined, commits(), world.fired], logic).toEqual([isRefused, isRefused ? 1 : 2, [[action, 7]]])
      expect([...world.host.ids], logic).toEqual([isRefused ? elsewhere : own])
      expect(await world.limiter.sessions.count(7)).toBe(1)
    }
  })

  it('still does not count the session that it replaces', async () => {
    const { store, commits } = meddled(async (count) => {
      if (count === 2) await store.sessions.end(7, [tokenOf(await logInElsewhere(store, world, 7))])
    })
    const world = createLimiterWorld({ store, settings: { logic: 'block' } })
    const first = await world.login(7)
    const second = await world.login(7, { replaces: first })
    expect([commits(), await world.live(7)]).toEqual([3, [second]])
  })

  it('wins at the last of a hundred attempts, or gives up with login_conflict, and takes the session back', async () => {
    // No pauses between attempts.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => random.mockRestore())
    for (const lost of [99, 100]) {
      const { store, commits } = meddled(async (count) => {
        if (count <= lost) await store.sessions.adopt(7, { sessionId: `x${count}`, ttlMs: 60_000, ...nothing })
      })
      const world = createLimiterWorld({ store, settings: { maximum: 200 } })
      const message = "This user's sessions changed 100 times during the login. Try again."
      if (lost === 99) expect(await world.login(7)).toBeDefined()
      else await expect(world.login(7)).rejects.toMatchObject({ code: 'login_conflict', message })
      expect([commits(), world.host.ids.size, world.fired]).toEqual([100, 100 - lost, []])
      expect((await store.sessions.read(7)).sessions).toHaveLength(100)
    }
  })
})

const DAY_MS = 86_400_000
const BLOCK = { logic: 'block' }

it('warns once, at the first login, that a lost cookie locks its user out', async () => {
  const warningsOf = async (settings: CodeSettings, given = {}, ttlMs = 14 * DAY_MS) => {
    const world = createLimiterWorld({ settings, clock: fakeClock(Date.UTC(2026, 10, 22)) })
    for (const user of [1, 2, 3]) await world.login(user, given, ttlMs)
    return world.logged.map(([message]) => message)
  }
  const words = /^A mode that refuses logins, without idle_release: .* until 2026-12-06\. Set /
  expect(await warningsOf(BLOCK)).toEqual([aWarning('block-without-a-way-out', words)])
  expect(await warningsOf({ logic: 'ask' }), 'another mode').toEqual([])
  expect(await warningsOf({ ...BLOCK, idle_release: 300 }), 'an idle release').toEqual([])
  expect(await warningsOf({ ...BLOCK, enforce: false }), 'report-only').toEqual([])
  expect(await warningsOf(BLOCK, HOME), 'the option device').toEqual([])
  expect(await warningsOf(BLOCK, {}, DAY_MS), 'sessions that last a day').toEqual([])
})
