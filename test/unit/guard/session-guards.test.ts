import { expect, test, vi } from 'vitest'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import type { HostStore } from '../../../src/guard/host-types.ts'
import { SessionGuards } from '../../../src/guard/session-guards.ts'
import { SessionStores } from '../../../src/guard/stores/session-stores.ts'
import { storeCalls } from '../../../src/guard/stores/store-calls.ts'
import { memoryStore } from '../../../src/index.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { TestStore } from '../../support/test-store.ts'

test('every store has one guard, whose sessions the limiter counts', async () => {
  const [store, logger] = [memoryStore(), { warn() {}, error() {} }]
  const siteSecrets = new SiteSecrets(store.options, [])
  const stores = new SessionStores({ deadlineMs: 500, sessionStoreDeadlineMs: 1000, store, logger })
  const { limiter } = createLimiterWorld({ store, hostSessions: stores })
  const guards = new SessionGuards(stores, limiter, { logger, siteSecrets, touchEveryMs: 0, sessionUser: () => 7 })
  const makeCalls = vi.fn(storeCalls)
  const [one, other] = [new TestStore(), new TestStore()] as unknown as [HostStore, HostStore]
  const guarded = guards.of(one, makeCalls)
  expect(guards.of(one, makeCalls)).toBe(guarded)
  expect(makeCalls.mock.calls).toEqual([
    [one, { sessionStoreDeadlineMs: 1000, deadlineMs: 500, health: expect.anything() }],
  ])
  expect(guards.of(other, storeCalls)).not.toBe(guarded)
  await guarded.save('a', {})
  expect(await limiter.sessions.count(7)).toBe(1)
})
