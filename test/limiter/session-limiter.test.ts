import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { LimitStrategy } from '../../src/strategies/limit-strategy.ts'
import { deferred, nextTurn } from '../support/deferred.ts'
import { createLimiterWorld } from '../support/limiter-world.ts'

/** Ends the youngest session instead of the oldest. */
const logoutYoungest: LimitStrategy = {
  id: 'logout_youngest',
  label: 'Logout Youngest',
  desc: 'The session that began last ends.',
  decide: ({ sessions }) => ({ admit: true, end: sessions.slice(-1), actions: [] }),
}

describe('the limiter', () => {
  it('lets a mode of the application decide, which is chosen like the built-in ones', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld({
      settings: { maximum: 2 },
      strategies: [logoutYoungest],
    })
    await limiter.settings.update({ logic: 'logout_youngest' })
    const [first] = [await login(7), await login(7)]
    const third = await login(7)
    expect(await live(7)).toEqual([first, third])
    expect([...host.ids]).toEqual([first, third])
    expect(fired).toEqual([])
  })

  it('refuses a mode that nobody has brought', async () => {
    const { limiter } = createLimiterWorld({ strategies: [logoutYoungest] })
    await expect(limiter.settings.update({ logic: 'logout_nobody' })).rejects.toThrow(
      'logic must be one of allow, logout_oldest, block, logout_youngest',
    )
  })

  it('lets the logins of one user take turns, so that none meets a conflict within the process', async () => {
    const store = memoryStore()
    const commit = store.sessions.commit.bind(store.sessions)
    const committed: boolean[] = []
    store.sessions.commit = async (...parameters) => {
      const result = await commit(...parameters)
      committed.push(result.committed)
      return result
    }
    const { login } = createLimiterWorld({ store, settings: { maximum: 100 } })
    await Promise.all(Array.from({ length: 30 }, (_, index) => login(index % 2 ? 7 : '7')))
    expect(committed).toEqual(Array(30).fill(true))
  })

  it('names the store that it works on', () => {
    const store = memoryStore()
    expect(createLimiterWorld({ store }).limiter.storeId).toBe(store.id)
  })
})

describe('closing the limiter', () => {
  it('waits for asynchronous subscribers that are at work, and then closes the store', async () => {
    const store = memoryStore()
    const events: string[] = []
    store.close = async () => void events.push('store closed')
    const { limiter } = createLimiterWorld({ store })
    const gate = deferred()
    limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'slow', async () => {
      await gate.promise
      events.push('subscriber done')
    })
    await limiter.sessions.endAll(7)
    const closing = limiter.close()
    await nextTurn()
    expect(events).toEqual([])
    gate.resolve()
    await closing
    expect(events).toEqual(['subscriber done', 'store closed'])
  })

  it('does not wait for ever for a subscriber that hangs', async () => {
    const { limiter, logged } = createLimiterWorld({ deadlineMs: 10 })
    limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'hangs', () => new Promise(() => {}))
    await limiter.sessions.endAll(7)
    await limiter.close()
    expect(logged).toEqual([[expect.stringContaining('did not answer within 10 ms'), { code: 'hook_timeout' }]])
  })
})
