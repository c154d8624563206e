import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { memoryStore, type SessmgrStore, sessmgr, tokenOf } from '../../../src/index.ts'
import { type TokenClaims, tokenSessions } from '../../../src/jwt.ts'
import { type LiveOptions, liveConnections } from '../../../src/live.ts'
import { deferred } from '../../support/deferred.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

const sign = (claims: TokenClaims) => claims

/** Token sessions whose checks are answered from memory, and how often they have asked the store. */
function start(options: LiveOptions = {}, store: SessmgrStore = memoryStore()) {
  const limiter = sessmgr({ store, deadlineMs: 100, settings: { maximum: 10, logic: 'logout_oldest' } })
  const live = liveConnections(limiter, options)
  onTestFinished(async () => {
    await live.close()
    await limiter.close()
  })
  const asked = vi.spyOn(store.sessions, 'useOf')
  const tokens = tokenSessions(limiter, { live })
  async function login(userId = 'ada') {
    const admission = await tokens.login({ userId }, sign)
    if (!admission.admitted) throw new Error(admission.message)
    return admission.tokens
  }
  const isLive = async (claims: TokenClaims) => (await tokens.check(claims)).session !== undefined
  return { limiter, live, tokens, asked, login, isLive }
}

async function within<Result>(ms: number, ask: () => Promise<Result>, wanted: Result): Promise<number> {
  const from = performance.now()
  for (;;) {
    if ((await ask()) === wanted) return performance.now() - from
    if (performance.now() - from > ms) throw new Error(`not ${String(wanted)} within ${ms} ms`)
    await sleep(5)
  }
}

describe('a check from memory', () => {
  it('asks nothing', async () => {
    const { asked, login, isLive } = start()
    const own = await login()
    expect(await isLive(own)).toBe(true)
    await sleep(0)
    asked.mockClear()
    for (let index = 0; index < 1000; index++) expect(await isLive(own)).toBe(true)
    expect(asked).not.toHaveBeenCalled()
  })

  it('knows every end by its own process before the call that ends the session resolves', async () => {
    const { limiter, tokens, login, isLive } = start({ sweepEvery: 3_600_000 })
    const { sessions } = limiter
    const ends: ((own: TokenClaims) => Promise<unknown>)[] = [
      (own) => sessions.end('ada', tokenOf(own.sid)),
      () => sessions.endAll('ada'),
      () => sessions.logoutAllUsers(),
      (own) => tokens.logout(own),
      async (own) => sessions.endOthers('ada', tokenOf((await login()).sid)).then(() => own),
      async () => {
        for (let index = 0; index < 10; index++) await login()
      },
      async (own) => limiter.eraseUser('ada').then(() => own),
    ]
    for (const end of ends) {
      const own = await login()
      expect([await isLive(own), await isLive(own)]).toEqual([true, true])
      await end(own)
      expect(await isLive(own)).toBe(false)
    }
  })

  it('is not remembered if the session ends while it is asked', async () => {
    for (const end of ['endAll', 'logoutAllUsers'] as const) {
      const { limiter, asked, login, isLive } = start({ sweepEvery: 3_600_000 })
      const own = await login()
      const ending = deferred<void>()
      const use = { generation: 0, usedAt: performance.now(), ttlMs: 60_000, takenUp: true }
      asked.mockImplementationOnce(async () => use)
      asked.mockImplementationOnce(async () => {
        await ending.promise
        return use
      })
      const checks = [isLive(own), isLive(own)]
      await (end === 'endAll' ? limiter.sessions.endAll('ada') : limiter.sessions.logoutAllUsers())
      ending.resolve()
      await Promise.all(checks)
      expect(await isLive(own), end).toBe(false)
    }
  })

  it('ends within the bound if no message of another process arrives', async () => {
    const rows = new MemoryRows()
    const one = start({ sweepEvery: 100 }, documentStore(rows.driver()))
    const other = start({}, documentStore(rows.driver()))
    const own = await one.login()
    for (const end of ['endAll', 'logoutAllUsers'] as const) {
      const claims = end === 'endAll' ? own : await one.login()
      expect([await one.isLive(claims), await one.isLive(claims)]).toEqual([true, true])
      await (end === 'endAll' ? other.limiter.sessions.endAll('ada') : other.limiter.sessions.logoutAllUsers())
      // The interval, the deadline of 100 ms, and the pauses of a busy machine.
      expect(await within(2000, () => one.isLive(claims), false)).toBeLessThan(2000)
    }
  })

  it('lasts for the grace period of open connections while the store is away, and then fails with 503', async () => {
    const { asked, login, tokens, isLive } = start({ sweepEvery: 100, graceMs: 300 })
    const own = await login()
    expect(await isLive(own)).toBe(true)
    asked.mockRejectedValue(Object.assign(new Error('away'), { code: 'store_unavailable', status: 503 }))
    await sleep(150)
    expect(await isLive(own)).toBe(true)
    const code = () =>
      tokens.check(own).then(
        () => 'live',
        ({ code }) => code,
      )
    await within(3000, code, 'store_unavailable')
    asked.mockRestore()
    expect(await isLive(own)).toBe(true)
  })

  it('is forgotten a minute after the last check, also if no other session is checked', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { live, login, isLive } = start({ sweepEvery: 3_600_000 })
    const [one, other] = [await login(), await login()]
    expect([await isLive(one), await isLive(other)]).toEqual([true, true])
    vi.advanceTimersByTime(30_000)
    expect(await isLive(other)).toBe(true)
    expect(live.size).toBe(2)
    vi.advanceTimersByTime(32_000)
    expect(live.size).toBe(1)
    vi.advanceTimersByTime(32_000)
    expect([live.size, vi.getTimerCount()]).toEqual([0, 0])
    expect(await isLive(one)).toBe(true)
  })

  it('is asked again after the process was stopped, because its sweeps are overdue', async () => {
    const { asked, limiter, login, isLive } = start({ sweepEvery: 3_600_000 })
    const own = await login()
    expect(await isLive(own)).toBe(true)
    await sleep(0)
    asked.mockClear()
    const now = performance.now.bind(performance)
    const late = vi.spyOn(performance, 'now').mockImplementation(() => now() + 40_000)
    onTestFinished(() => late.mockRestore())
    expect(await isLive(own)).toBe(true)
    expect(asked).toHaveBeenCalled()
    await sleep(0)
    asked.mockClear()
    expect(await isLive(own)).toBe(true)
    expect(asked).not.toHaveBeenCalled()
    expect(await limiter.sessions.count('ada')).toBe(1)
  })

  it('is of one user only', async () => {
    const { tokens, login, isLive } = start()
    const own = await login()
    expect(await isLive(own)).toBe(true)
    expect(await tokens.check({ ...own, sub: 'bob' })).toMatchObject({ ended: { reason: 'ended' } })
    expect(await isLive(own)).toBe(true)
  })
})
