import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { memoryStore, sessmgr, tokenOf } from '../../../src/index.ts'
import { tokenSessions } from '../../../src/jwt.ts'

it('a check from memory is forgotten when 50,000 others have been used since, or after a minute without use', async () => {
  const tracked = new Set<string>()
  const store = memoryStore()
  const limiter = sessmgr({ store })
  onTestFinished(() => limiter.close())
  store.sessions.useOf = async () => ({ generation: 0, usedAt: 0, ttlMs: 1, takenUp: true })
  const track = ({ token }: { token: string }) => {
    tracked.add(token)
    return () => void tracked.delete(token)
  }
  const tokens = tokenSessions(limiter, { live: { track } })
  const claims = (index: number) => ({ sub: 'ada', sid: `jwt_${String(index).padStart(22, '0')}` })
  const has = (index: number) => tracked.has(tokenOf(claims(index).sid))
  for (let index = 0; index < 50_000; index++) {
    await tokens.check(claims(index))
    // After seconds without a turn of the event loop, the process would take itself for one that was stopped.
    if (index % 1000 === 0) await setImmediate()
  }
  await tokens.check(claims(0))
  expect(tracked.size).toBe(50_000)
  await tokens.check(claims(50_000))
  expect([tracked.size, has(0), has(1), has(50_000)]).toEqual([50_000, true, false, true])
  const now = performance.now() + 60_001
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => void vi.restoreAllMocks())
  await tokens.check(claims(50_001))
  expect(tracked.size).toBe(1)
})
