import { describe, expect, test, vi } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import type { Answer } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { createGate } from '../../support/gates.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

/** Who may be signed in is asked to come back: not answered as a stranger, and not signed out. */
function expectUnavailable(answer: Answer): void {
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(answer.setCookies).toEqual([])
}

/** Two processes on a session store, and on a store of sessmgr, which can both hang. */
async function frozenHosts(session: object = {}) {
  let isFrozen = false
  const driver = new MemoryRows().driver()
  const hanging = new Proxy(driver, {
    get: (target, name) => {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => (isFrozen ? new Promise(() => {}) : value.apply(target, given))
    },
  })
  const options = () => ({ store: documentStore(hanging, { deadlineMs: 400 }), deadlineMs: 400 })
  const here = await startExpressHost({ sessmgr: options(), session, expressErrors: true })
  const there = await startExpressHost({ sessmgr: options(), expressErrors: true, store: here.store.twin() })
  const freeze = (state: boolean) => {
    isFrozen = state
    here.store.silent = state
    there.store.silent = state
  }
  return { here, there, freeze }
}

describe('a session store that does not answer, while the store of sessmgr does not answer either', () => {
  test('rule 74: a request waits for deadlineMs, the next ones for nothing, also with a session nobody has seen', async () => {
    // With `unset: 'destroy'`, a session that is not loaded could be taken for one that was given up.
    const { here, there, freeze } = await frozenHosts({ unset: 'destroy' })
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
      for (let group = 0; group < 5; group++) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get('/me')))
        for (const answer of answers) expectUnavailable(answer)
      }
      expect(host.store.reads - reads, 'a queue of bounded length').toBeLessThan(25)
      expectUnavailable(await host.browser().login('bob'))
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

describe('a login', () => {
  test('rule 74: whose session store hangs gets 503 once the store of sessmgr does as well, and keeps its cart', async () => {
    const { here, freeze } = await frozenHosts()
    const visitor = here.browser()
    await visitor.post('/cart', { item: 'tea' })
    here.limiter.hooks.addFilter('sessmgr_bypass', 'test', (bypass) => {
      freeze(true)
      return bypass
    })
    expectUnavailable(await visitor.login('bob'))
    freeze(false)
    await vi.waitFor(async () => expect((await visitor.get('/cart')).json()).toEqual(['tea']), { timeout: 10_000 })
    expect([await visitor.me(), await here.limiter.sessions.count(3)]).toEqual([401, 0])
  })

  test('rule 74: that is written after it got 503 does not stay', async () => {
    const driver = new MemoryRows().driver()
    let held: Promise<void> | undefined
    const late = createGate()
    const swap: typeof driver.swap = async (...given) => {
      const waiting = given[0].startsWith('u:') ? held : undefined
      if (waiting) held = undefined
      await waiting
      const isWritten = await driver.swap(...given)
      if (given[0].startsWith('u:')) swaps.push([waiting ? 'late' : 'undone', isWritten])
      return isWritten
    }
    const swaps: unknown[] = []
    const store = documentStore({ ...driver, swap }, { deadlineMs: 200 })
    const host = await startExpressHost({ sessmgr: { store, deadlineMs: 200 }, expressErrors: true })
    held = late.pass()
    const browser = host.browser()
    expectUnavailable(await browser.login('bob'))
    late.open()
    await vi.waitFor(() => expect(swaps.at(-1)).toEqual(['undone', true]), { timeout: 10_000 })
    expect(swaps[0]).toEqual(['late', true])
    expect(host.store.ids()).toEqual([])
    expect(await host.limiter.sessions.count(3)).toBe(0)
    expect((await browser.login('bob')).status).toBeLessThan(400)
  })

  test('rule 74: that is under way when the store fails leaves no session behind, and keeps its cart', async () => {
    let isDown = false
    const driver = new MemoryRows().driver()
    const down = () => Promise.reject(new Error('down'))
    const get: typeof driver.get = (...given) => (isDown ? down() : driver.get(...given))
    const swap: typeof driver.swap = (...given) => (isDown ? down() : driver.swap(...given))
    const host = await startExpressHost({
      sessmgr: { store: documentStore({ ...driver, get, swap }) },
      expressErrors: true,
    })
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })
    const anonymous = visitor.sessionId()
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', (bypass) => {
      isDown = true
      return bypass
    })
    expectUnavailable(await visitor.login('alice'))
    isDown = false
    expect(host.store.ids()).toEqual([anonymous])
    expect([await visitor.me(), (await visitor.get('/cart')).json()]).toEqual([401, ['tea']])
  })
})
