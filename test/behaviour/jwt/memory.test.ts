import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { memoryStore, type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { type TokenClaims, tokenSessions } from '../../../src/jwt.ts'
import { type LiveOptions, liveConnections } from '../../../src/live.ts'
import { deferred } from '../../support/deferred.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { passingTime } from '../../support/passing-time.ts'
import { startTokens } from './token-world.ts'

const NO_SWEEP = { sweepEvery: 3_600_000 }

/** Token sessions whose checks are answered from memory, and how often they have asked the store. */
function start(options: LiveOptions = NO_SWEEP, store: SessmgrStore = memoryStore()) {
  const settings = { maximum: 10, logic: 'logout_oldest' } as const
  const world = startTokens({ store, deadlineMs: 100, settings })
  const live = liveConnections(world.limiter, options)
  onTestFinished(() => live.close())
  const asked = vi.spyOn(store.sessions, 'useOf')
  const tokens = tokenSessions(world.limiter, { live })
  const isLive = async (claims: TokenClaims) => (await tokens.check(claims)).session !== undefined
  /** Logs in, and lets the process remember the session. */
  async function remembered() {
    const own = await world.login()
    expect([await isLive(own), await isLive(own)]).toEqual([true, true])
    await sleep(0)
    asked.mockClear()
    return own
  }
  return { ...world, live, tokens, asked, isLive, remembered }
}

describe('a check from memory', () => {
  it('asks nothing, and is of one user only', async () => {
    const { asked, tokens, isLive, remembered } = start()
    const own = await remembered()
    for (let index = 0; index < 100; index++) expect(await isLive(own)).toBe(true)
    expect(asked).not.toHaveBeenCalled()
    expect(await tokens.check({ ...own, sub: 'bob' })).toMatchObject({ ended: { reason: 'ended' } })
    expect(await isLive(own)).toBe(true)
  })

  it('knows every end by its own process before the call that ends the session resolves', async () => {
    const { limiter, tokens, login, isLive, remembered } = start()
    const { sessions } = limiter
    const ends: ((own: TokenClaims) => Promise<unknown>)[] = [
      (own) => sessions.end('ada', tokenOf(own.sid)),
      () => sessions.endAll('ada'),
      () => sessions.logoutAllUsers(),
      (own) => tokens.logout(own),
      async () => sessions.endOthers('ada', tokenOf((await login()).sid)),
      () => Promise.all(Array.from({ length: 10 }, () => login())),
      () => limiter.eraseUser('ada'),
    ]
    for (const end of ends) {
      const own = await remembered()
      await end(own)
      expect(await isLive(own), String(end)).toBe(false)
    }
  })

  it('is not remembered if the session ends while it is asked', async () => {
    for (const way of ['endAll', 'logoutAllUsers'] as const) {
      const { limiter, asked, login, isLive } = start()
      const own = await login()
      const ending = deferred<void>()
      const use = { generation: 0, usedAt: performance.now(), ttlMs: 60_000, takenUp: true }
      asked.mockImplementationOnce(async () => use)
      asked.mockImplementationOnce(() => ending.promise.then(() => use))
      const checks = [isLive(own), isLive(own)]
      await (way === 'endAll' ? limiter.sessions.endAll('ada') : limiter.sessions.logoutAllUsers())
      ending.resolve()
      await Promise.all(checks)
      expect(await isLive(own), way).toBe(false)
    }
  })

  it('ends with the next sweep if no message of another process arrives', async () => {
    const rows = new MemoryRows()
    const one = start({ sweepEvery: 100 }, documentStore(rows.driver()))
    const { sessions } = start({}, documentStore(rows.driver())).limiter
    for (const end of [() => sessions.endAll('ada'), () => sessions.logoutAllUsers()]) {
      const own = await one.remembered()
      await end()
      await expect.poll(() => one.isLive(own), { timeout: 2000 }).toBe(false)
    }
  })

  it('lasts for the grace period of open connections while the store is away, and then fails with 503', async () => {
    const { asked, tokens, isLive, remembered } = start({ sweepEvery: 100, graceMs: 300 })
    const own = await remembered()
    asked.mockRejectedValue(Object.assign(new Error('away'), { code: 'store_unavailable', status: 503 }))
    await sleep(150)
    expect(await isLive(own)).toBe(true)
    const status = async () => (await tokens.check(own).catch((error) => error)).status
    await expect.poll(status, { timeout: 3000 }).toBe(503)
    asked.mockRestore()
    expect(await isLive(own)).toBe(true)
  })

  it('is forgotten a minute after the last check, also if no other session is checked', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { live, login, isLive } = start()
    const [one, other] = [await login(), await login()]
    expect([await isLive(one), await isLive(other)]).toEqual([true, true])
    vi.advanceTimersByTime(30_000)
    expect(await isLive(other)).toBe(true)
    vi.advanceTimersByTime(32_000)
    expect(live.size).toBe(1)
    vi.advanceTimersByTime(32_000)
    expect([live.size, vi.getTimerCount()]).toEqual([0, 0])
    expect(await isLive(one)).toBe(true)
  })

  it('is asked again after the process was stopped, because its sweeps are overdue', async () => {
    const { asked, isLive, remembered } = start()
    const own = await remembered()
    passingTime()(40_000)
    expect(await isLive(own)).toBe(true)
    expect(asked).toHaveBeenCalled()
    await sleep(0)
    asked.mockClear()
    expect(await isLive(own)).toBe(true)
    expect(asked).not.toHaveBeenCalled()
  })
})
