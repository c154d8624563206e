import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { createLimiterWorld, SimpleHost } from '../../support/limiter-world.ts'

/** How many of `logins` one after the other are live in the end. */
const expectedLive: Record<string, (logins: number, maximum: number) => number> = {
  allow: (logins, maximum) => ((logins - 1) % maximum) + 1,
  logout_oldest: Math.min,
  logout_idlest: Math.min,
  block: Math.min,
}

describe('parallel logins', () => {
  it('rule 5: leave exactly as many sessions as logins one after the other, over several processes', async () => {
    const logic = fc.constantFrom('allow', 'logout_oldest', 'logout_idlest', 'block')
    const logins = fc.integer({ min: 1, max: 12 })
    await fc.assert(
      fc.asyncProperty(logic, logins, fc.integer({ min: 1, max: 4 }), async (logic, logins, maximum) => {
        const shared = { store: memoryStore(), host: new SimpleHost(), settings: { maximum, logic } }
        const processes = Array.from({ length: 3 }, () => createLimiterWorld(shared))
        const login = (index: number) => processes[index % processes.length]?.login(7)
        const admitted = (await Promise.all(Array.from({ length: logins }, (_, index) => login(index)))).filter(Boolean)

        const expected = expectedLive[logic]?.(logins, maximum)
        expect(await processes[0]?.limiter.sessions.count(7)).toBe(expected)
        expect(shared.host.ids.size).toBe(expected)
        expect(admitted).toHaveLength(logic === 'block' ? Math.min(logins, maximum) : logins)
      }),
      { numRuns: 60 },
    )
  })

  it('of different users do not wait for one another', async () => {
    const { limiter, host } = createLimiterWorld()
    const hang = new Promise<never>(() => {})
    void limiter.admit({ userId: 1, ip: null, userAgent: null }, () => hang)
    const admission = await limiter.admit({ userId: 2, ip: null, userAgent: null }, async () => host.establish())
    expect(admission.admitted).toBe(true)
  })

  it('are not held up for ever by one that hangs', async () => {
    const { limiter, host } = createLimiterWorld()
    const hang = new Promise<never>(() => {})
    void limiter.admit({ userId: 1, ip: null, userAgent: null }, () => hang)
    const admission = await limiter.admit({ userId: 1, ip: null, userAgent: null }, async () => host.establish())
    expect(admission.admitted).toBe(true)
  })
})
