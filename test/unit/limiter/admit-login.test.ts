import { describe, expect, it } from 'vitest'
import type { EstablishedSession } from '../../../src/limiter/decision/commit-login.ts'
import type { CodeSettings } from '../../../src/options/setting-rules.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { textCatalogue } from '../../../src/texts/text-catalogue.ts'
import { readerTexts } from '../../../src/texts/texts-for.ts'
import { aWarning } from '../../support/a-warning.ts'
import { createLimiterWorld, type LimiterWorld } from '../../support/limiter-world.ts'

const nothing = { ip: null, userAgent: null, device: null, generation: 0 }
const attempt = (userId: number) => ({ userId, ip: null, userAgent: null })

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
  it('is registered with its address, user agent and life, and told as a record', async () => {
    const { limiter, host, clock } = createLimiterWorld()
    const facts = { userId: 'u', ip: '192.0.2.1', userAgent: 'Browser' }
    const admission = await limiter.admit(facts, async () => host.establish(5000, 'raw'))
    const [session] = await limiter.sessions.list('u')
    expect(admission).toEqual({ admitted: true, session })
    expect(session).toMatchObject({ ...facts, token: tokenOf('raw'), expiresAt: clock.now() + 5000 })
    expect(JSON.stringify(admission)).not.toContain('raw')
  })

  it('keeps 64 characters of an address and 512 of a user agent, and null for what is not known', async () => {
    const { limiter, host } = createLimiterWorld({ settings: { maximum: 2 } })
    const [ip, userAgent] = ['1'.repeat(64), 'a'.repeat(512)]
    await limiter.admit({ userId: 7, ip: `${ip}2`, userAgent: `${userAgent}b` }, async () => host.establish())
    await limiter.admit({ userId: 7 }, async () => host.establish())
    expect(await limiter.sessions.list(7)).toMatchObject([
      { ip, userAgent },
      { ip: null, userAgent: null, device: null },
    ])
  })

  it('rule 3: in mode allow ends all old sessions', async () => {
    const { host, fired, login, live } = createLimiterWorld({ settings: { maximum: 2 } })
    await login(7)
    await login(7)
    expect(fired).toEqual([])
    const third = await login(7)
    expect(await live(7)).toEqual([third])
    expect([...host.ids]).toEqual([third])
    expect(fired).toEqual([['sessmgr_destroy_all_sessions', 7]])
  })

  it('rule 4: in mode logout_oldest ends the oldest, as many as a lowered limit takes', async () => {
    const settings = { maximum: 4, logic: 'logout_oldest' }
    const { limiter, host, fired, login, live } = createLimiterWorld({ settings })
    const old = [await login(7), await login(7), await login(7), await login(7)]
    await limiter.settings.update({ maximum: 2 })
    const next = await login(7)
    expect(await live(7)).toEqual([old[3], next])
    expect([...host.ids]).toEqual([old[3], next])
    expect(fired).toEqual(Array(3).fill(['sessmgr_destroy_oldest_session', 7]))
  })

  it('rule 7: replaces the session that its browser holds', async () => {
    const { host, fired, login, live } = createLimiterWorld({ settings: { maximum: 2, logic: 'block' } })
    const first = await login(7)
    const second = await login(7)
    const third = await login(7, { replaces: first })
    expect(await live(7)).toEqual([second, third])
    expect([...host.ids]).toEqual([second, third])
    expect(fired).toEqual([])
  })

  it('rule 7: keeps a session whose id the host gives the login again', async () => {
    const { limiter, host } = createLimiterWorld()
    await limiter.admit(attempt(7), async () => host.establish(1000, 'same'))
    const again = await limiter.admit({ ...attempt(7), replaces: 'same' }, async () => host.establish(1000, 'same'))
    expect(again.admitted).toBe(true)
    expect([...host.ids]).toEqual(['same'])
    expect(await limiter.sessions.count(7)).toBe(1)
  })

  it('rule 9: is registered under bypass, and counts when the bypass is gone', async () => {
    const { limiter, login, live } = createLimiterWorld({ settings: { logic: 'block' } })
    const off = limiter.hooks.addFilter('sessmgr_bypass', 'ns', () => true)
    const sessions = [await login(7), await login(7), await login(7)]
    expect(await live(7)).toEqual(sessions)
    off()
    expect(await login(7)).toBeUndefined()
  })

  it('rule 6: forgets the sessions that the session store has lost', async () => {
    const store = memoryStore()
    const { host, login } = createLimiterWorld({ store, settings: { maximum: 2, logic: 'logout_oldest' } })
    const [lost, kept] = [await login(7), await login(7)]
    host.ids.delete(String(lost))
    const next = await login(7)
    expect((await store.sessions.read(7)).sessions.map(({ sessionId }) => sessionId)).toEqual([kept, next])
  })

  it('does not wait for an asynchronous subscriber to what it fires', async () => {
    const { limiter, login } = createLimiterWorld()
    let asked = false
    limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'hangs', () => {
      asked = true
      return new Promise(() => {})
    })
    await login(7)
    expect(await login(7)).toBeDefined()
    expect(asked).toBe(true)
  })
})

describe('a refused login', () => {
  it('rule 11: establishes nothing, changes nothing, and fires sessmgr_login_blocked', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld({ settings: { logic: 'block' } })
    const old = await login(7)
    let established = false
    const admission = await limiter.admit(attempt(7), async () => {
      established = true
      return host.establish()
    })
    expect(admission).toEqual({ admitted: false, message: textCatalogue.texts.login_blocked })
    expect(established).toBe(false)
    expect(await live(7)).toEqual([old])
    expect(fired).toEqual([['sessmgr_login_blocked', 7]])
  })

  it('rule 11: tells the message that sessmgr_error_message makes', async () => {
    const { limiter, host, login } = createLimiterWorld({ settings: { logic: 'block' } })
    limiter.hooks.addFilter('sessmgr_error_message', 'ns', (message) => `${message.length} letters`)
    await login(7)
    const admission = await limiter.admit(attempt(7), async () => host.establish())
    expect(admission).toEqual({ admitted: false, message: `${textCatalogue.texts.login_blocked.length} letters` })
  })

  it('rule 40: gives sessmgr_error_message the sentence in the language of the user', async () => {
    const { limiter, host, login } = createLimiterWorld({ settings: { logic: 'block' } })
    limiter.hooks.addFilter('sessmgr_error_message', 'ns', (message) => `${message}!`)
    await login(7)
    const german = { ...attempt(7), texts: () => readerTexts({ login_blocked: 'Zu viele Geräte' }) }
    expect(await limiter.admit(german, async () => host.establish())).toMatchObject({ message: 'Zu viele Geräte!' })
  })

  it('rule 12: stays refused when a subscriber to sessmgr_login_blocked throws, which is logged', async () => {
    const { limiter, logged, login } = createLimiterWorld({ settings: { logic: 'block' } })
    limiter.hooks.addAction('sessmgr_login_blocked', 'mail', () => {
      throw new Error('no mail server')
    })
    await login(7)
    expect(await login(7)).toBeUndefined()
    expect(logged).toEqual([[expect.stringContaining('no mail server'), { code: 'hook_failed' }]])
  })
})

describe('a login that fails', () => {
  it('registers nothing when the host cannot establish the session', async () => {
    const { limiter, fired, login, live } = createLimiterWorld()
    const old = await login(7)
    const failed = limiter.admit(attempt(7), () => Promise.reject(new Error('the session store is down')))
    await expect(failed).rejects.toThrow('the session store is down')
    expect(await live(7)).toEqual([old])
    expect(fired).toEqual([])
  })

  it('rule 12: establishes nothing when a filter fails', async () => {
    const { limiter, host } = createLimiterWorld()
    limiter.hooks.addFilter('sessmgr_bypass', 'broken', () => {
      throw new Error('broken')
    })
    const failed = limiter.admit(attempt(7), async () => host.establish())
    await expect(failed).rejects.toMatchObject({ code: 'hook_failed' })
    expect(host.ids.size).toBe(0)
  })

  it('takes the new session back when it cannot be registered', async () => {
    const fault = new Error('the store is down')
    const { store } = meddled(() => Promise.reject(fault))
    const world = createLimiterWorld({ store })
    await expect(world.login(7)).rejects.toBe(fault)
    expect(world.host.ids.size).toBe(0)
    expect(world.fired).toEqual([])
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
    expect(host.ids.size).toBe(0)
    expect((await store.sessions.read(7)).sessions).toEqual([])
    expect(fired).toEqual([])
  })

  it('tells the fault itself, and logs without a raw id, when it cannot be taken back', async () => {
    const store = answerLost()
    store.sessions.undo = () => Promise.reject(new Error('still down'))
    const { limiter, host, logged } = createLimiterWorld({ store })
    const revert = () => Promise.reject(new Error('down too'))
    const login = limiter.admit(attempt(7), async () => ({ ...host.establish(1000, 'raw'), revert }))
    await expect(login).rejects.toThrow('the answer was lost')
    const message = expect.stringMatching(/^A failed login could not be undone in the stores\. .*will expire\./)
    expect(logged).toEqual([[message, { error: expect.stringContaining('down too') }]])
    expect(JSON.stringify(logged)).not.toContain('"raw"')
  })
})

describe('a login that races against another process', () => {
  it('rule 5: decides anew on what the other has changed', async () => {
    let elsewhere = ''
    const { store, commits } = meddled(async (count) => {
      if (count === 1) elsewhere = await logInElsewhere(store, world, 7)
    })
    const world = createLimiterWorld({ store })
    const own = await world.login(7)
    expect(commits()).toBe(2)
    expect(await world.live(7)).toEqual([own])
    expect([...world.host.ids]).toEqual([own])
    expect(world.host.ids).not.toContain(elsewhere)
    expect(world.fired).toEqual([['sessmgr_destroy_all_sessions', 7]])
  })

  it('rule 11: is refused after all in mode block, and leaves no session behind', async () => {
    const { store } = meddled(async (count) => {
      if (count === 1) await logInElsewhere(store, world, 7)
    })
    const world = createLimiterWorld({ store, settings: { logic: 'block' } })
    expect(await world.login(7)).toBeUndefined()
    expect(await world.limiter.sessions.count(7)).toBe(1)
    expect(world.host.ids.size).toBe(1)
    expect(world.fired).toEqual([['sessmgr_login_blocked', 7]])
  })

  it('still does not count the session that it replaces', async () => {
    const { store, commits } = meddled(async (count) => {
      if (count === 2) await store.sessions.end(7, [tokenOf(await logInElsewhere(store, world, 7))])
    })
    const world = createLimiterWorld({ store, settings: { logic: 'block' } })
    const first = await world.login(7)
    const second = await world.login(7, { replaces: first })
    expect(commits()).toBe(3)
    expect(await world.live(7)).toEqual([second])
  })

  it('wins at the last of a hundred attempts', async () => {
    const { store, commits } = meddled(async (count) => {
      if (count < 100) await store.sessions.adopt(7, { sessionId: `x${count}`, ttlMs: 60_000, ...nothing })
    })
    const world = createLimiterWorld({ store, settings: { maximum: 200 } })
    expect(await world.login(7)).toBeDefined()
    expect(commits()).toBe(100)
  })

  it('gives up with login_conflict after a hundred lost races, and takes the session back once', async () => {
    const { store, commits } = meddled(async (count) => {
      await store.sessions.adopt(7, { sessionId: `x${count}`, ttlMs: 1000, ...nothing })
    })
    const world = createLimiterWorld({ store, settings: { maximum: 200 } })
    let reverted = 0
    const established: EstablishedSession = {
      sessionId: 'own',
      ttlMs: 1000,
      async revert() {
        reverted += 1
      },
    }
    const login = world.limiter.admit(attempt(7), async () => established)
    const message = "This user's sessions changed 100 times during the login. Try again."
    await expect(login).rejects.toMatchObject({ name: 'SessmgrError', code: 'login_conflict', message })
    expect(commits()).toBe(100)
    expect(reverted).toBe(1)
    expect(world.fired).toEqual([])
    expect((await store.sessions.read(7)).sessions.map(({ sessionId }) => sessionId)).not.toContain('own')
  })
})

const DAY_MS = 86_400_000
const BLOCK = { logic: 'block' }

async function warningsOf(settings: CodeSettings, attempt = {}, ttlMs = 14 * DAY_MS): Promise<unknown[]> {
  const world = createLimiterWorld({ settings, clock: fakeClock(Date.UTC(2026, 10, 22)) })
  for (const user of [1, 2, 3]) await world.login(user, attempt, ttlMs)
  return world.logged.map(([message]) => message)
}

it('warns once, at the first login, that a lost cookie locks its user out', async () => {
  expect(await warningsOf(BLOCK)).toEqual([
    aWarning(
      'block-without-a-way-out',
      /^A mode that refuses logins, without idle_release: .* until 2026-12-06\. Set /,
    ),
  ])
})

it.each([
  ['another mode', { logic: 'ask' }],
  ['an idle release', { ...BLOCK, idle_release: 300 }],
  ['report-only', { ...BLOCK, enforce: false }],
  ['the option device', BLOCK, { device: 'home-12345678901' }],
  ['sessions that last a day', BLOCK, {}, DAY_MS],
])('is silent with %s', async (_, settings, attempt?: object, ttlMs?: number) => {
  expect(await warningsOf(settings, attempt, ttlMs)).toEqual([])
})
