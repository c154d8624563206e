import { describe, expect, test, vi } from 'vitest'
import { memoryStore, SessmgrError, type SessmgrStore } from '../../../src/index.ts'
import type { Answer } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'

/** Who may be signed in is asked to come back: not answered as a stranger, and not signed out. */
function expectUnavailable(answer: Answer): void {
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(answer.setCookies).toEqual([])
}

describe('a session store that does not answer', () => {
  test('costs a request the deadline, ends in 503, and keeps the cookie', async () => {
    const host = await startExpressHost({ sessmgr: { sessionStoreDeadlineMs: 500 }, expressErrors: true })
    const laptop = await host.signedIn('alice')
    host.store.silent = true
    expectUnavailable(await laptop.get('/me'))
    expect((await host.browser().get('/')).status).toBe(200)

    host.store.silent = false
    await vi.waitFor(async () => expect(await laptop.me()).toBe(200), { timeout: 30_000, interval: 50 })
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test('fails a login with 503, and no session changes hands', async () => {
    const host = await startExpressHost({
      sessmgr: { sessionStoreDeadlineMs: 500, settings: { logic: 'allow' } },
      expressErrors: true,
    })
    const laptop = await host.signedIn('alice')
    host.store.silent = true
    expectUnavailable(await host.browser().login('alice'))
    host.store.silent = false
    await vi.waitFor(async () => expect(await laptop.me()).toBe(200), { timeout: 30_000, interval: 50 })
    expect(host.actions).toEqual([])
  })
})

describe('a session store that does not answer, while the store of sessmgr does not answer either', () => {
  /** Two processes on a session store, and on a store of sessmgr whose epoch can hang. */
  async function frozenHosts() {
    const memory = memoryStore()
    let isFrozen = false
    const never = new Promise<never>(() => {})
    const current = () => (isFrozen ? never : memory.epoch.current())
    const store = { ...memory, epoch: Object.assign(Object.create(memory.epoch), { current }) }
    const options = { store, deadlineMs: 400, sessionStoreDeadlineMs: 600_000 }
    const here = await startExpressHost({ sessmgr: options, expressErrors: true })
    const there = await startExpressHost({ sessmgr: options, expressErrors: true, store: here.store.twin() })
    const freeze = (state: boolean) => {
      isFrozen = state
      here.store.silent = state
      there.store.silent = state
    }
    return { here, there, freeze }
  }

  test('rule 56: a request waits for deadlineMs, the next ones for nothing, also with a session nobody has seen', async () => {
    const { here, there, freeze } = await frozenHosts()
    const laptop = await here.signedIn('alice')
    // The first request guards the store.
    await there.browser().get('/')
    freeze(true)
    for (const [host, browser] of [
      [here, laptop],
      [there, laptop.copy(there.origin)],
    ] as const) {
      expectUnavailable(await browser.get('/me'))
      const { reads } = host.store
      const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get('/me')))
      for (const answer of answers) expectUnavailable(answer)
      expect(host.store.reads - reads, 'all but probes are refused').toBeLessThan(10)
      expect((await host.browser().get('/')).status).toBe(200)
    }
    freeze(false)
    await vi.waitFor(async () => expect(await laptop.me()).toBe(200), { timeout: 30_000, interval: 50 })
    await vi.waitFor(async () => expect(await laptop.copy(there.origin).me()).toBe(200), {
      timeout: 30_000,
      interval: 50,
    })
  })
})

describe('a registry that cannot be reached', () => {
  function failing(): SessmgrStore & { fail: boolean } {
    const store = memoryStore()
    const switchable = Object.assign({ ...store }, { fail: false })
    const sessions = new Proxy(store.sessions, {
      get(target, name) {
        const method = Reflect.get(target, name) as ((...parameters: unknown[]) => Promise<unknown>) | undefined
        if (!method) return undefined
        return async (...parameters: unknown[]) => {
          if (switchable.fail) throw new SessmgrError('store_unavailable', 'The registry cannot be reached.')
          return method.apply(target, parameters)
        }
      },
    })
    return Object.assign(switchable, { sessions })
  }

  test('answers 503 to signed-in users and to logins, and signs nobody out', async () => {
    const store = failing()
    const host = await startExpressHost({ sessmgr: { store }, expressErrors: true })
    const laptop = await host.signedIn('alice')
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })

    store.fail = true
    expectUnavailable(await laptop.get('/me'))
    expectUnavailable(await visitor.login('alice'))
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
    expect((await host.browser().get('/')).status).toBe(200)

    store.fail = false
    expect([await laptop.me(), await visitor.me()]).toEqual([200, 401])
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test('that fails while a login is under way leaves no session behind', async () => {
    const store = failing()
    const host = await startExpressHost({ sessmgr: { store }, expressErrors: true })
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })
    const anonymous = visitor.sessionId()
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', (bypass) => {
      store.fail = true
      return bypass
    })
    expectUnavailable(await visitor.login('alice'))
    store.fail = false
    expect(host.store.ids()).toEqual([anonymous])
    expect(await visitor.me()).toBe(401)
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
  })
})
