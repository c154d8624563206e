import { expect } from 'vitest'
import type { SessmgrStore } from '../../src/index.ts'
import { createLimiterWorld, SimpleHost } from './limiter-world.ts'
import { rounds } from './rounds.ts'

const LOGINS = 200

/**
 * Logs users in 200 times at once, through both stores, and expects the limit of three to hold. Returns how many logins
 * a second were served.
 */
export async function logInAtOnce(stores: readonly [SessmgrStore, SessmgrStore]): Promise<number> {
  const host = new SimpleHost()
  const settings = { maximum: 3, logic: 'logout_oldest' }
  const worlds = stores.map((store) => createLimiterWorld({ store, host, settings, deadlineMs: 60_000 }))
  const users = rounds(2)
  const begunAt = performance.now()
  for (let round = 0; round < users; round++) {
    const user = `user ${round}`
    await Promise.all(Array.from({ length: LOGINS }, (_, login) => worlds[login % 2]?.login(user)))
    for (const { limiter } of worlds) expect(await limiter.sessions.list(user)).toHaveLength(3)
  }
  return Math.round((users * LOGINS) / ((performance.now() - begunAt) / 1000))
}
