import { describe, expect, it } from 'vitest'
import { FAILURES, helpAt } from '../../../src/ground/help.ts'
import type { LimitStrategy } from '../../../src/index.ts'
import { createSessionLimiter } from '../../../src/limiter/session-limiter.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { deferred, nextTurn } from '../../support/deferred.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'

function start(destroy: () => Promise<void> = async () => {}, strategies: readonly LimitStrategy[] = []) {
  const warnings: string[] = []
  const errors: string[] = []
  const logger = {
    warn: (message: string) => void warnings.push(message),
    error: (message: string) => void errors.push(message),
  }
  const store = memoryStore()
  const hostSessions = { exists: async () => true, destroy }
  const parts = {
    store,
    hostSessions,
    logger,
    settings: {},
    strategies,
    deadlineMs: 1000,
    touchEveryMs: 0,
    endedMemoryMs: 0,
  }
  return { limiter: createSessionLimiter(parts), store, warnings, errors }
}

const attempt = { userId: 2, ip: null, userAgent: null }
const broken = async () => {
  throw new Error('broken')
}

describe('the modes that settings take', () => {
  it('are the real ones alone, while nobody vouches for another', async () => {
    const { limiter } = start()
    limiter.hooks.addFilter('sessmgr_logics', 'test', (logics) => ({ ...logics, own: { label: 'Own', desc: '' } }))
    await expect(limiter.settings.update({ logic: 'own' })).rejects.toMatchObject({ code: 'invalid_setting' })
  })

  it('are those of the catalogue too, when a subscriber returns them', async () => {
    const { limiter } = start()
    limiter.hooks.addFilter('sessmgr_logics', 'test', (logics) => ({ ...logics, own: { label: 'Own', desc: '' } }))
    limiter.hooks.addFilter('pre_update_option_sessmgr_settings', 'test', (value, _old, requested) => ({
      ...(value as object),
      ...(requested as object),
    }))
    expect(await limiter.settings.update({ logic: 'own' })).toMatchObject({ logic: 'own' })
    await expect(limiter.settings.update({ logic: 'none' })).rejects.toMatchObject({ code: 'invalid_setting' })
  })
})

it('rule 12: an action that there is not, in the decision of a strategy, is logged and changes nothing', async () => {
  const odd = {
    id: 'odd',
    label: 'Odd',
    decide: () => ({ admit: true, end: [], actions: [['addon_kicked', 2]] }),
  } as unknown as LimitStrategy
  const { limiter, errors } = start(async () => {}, [odd])
  await limiter.settings.update({ logic: 'odd' })
  for (const sessionId of ['a', 'b']) {
    const admission = await limiter.admit(attempt, async () => ({ sessionId, ttlMs: 60_000, revert: async () => {} }))
    expect(admission.admitted).toBe(true)
  }
  await limiter.close()
  expect(errors).toEqual([`There is no action "addon_kicked". See ${helpAt('hook_misuse')}`])
})

describe('a limiter', () => {
  it.each([true, false])('says whether a restart deletes its data, for a store with local: %s', (local) => {
    expect(createLimiterWorld({ store: { ...memoryStore(), local } }).limiter.isLocal).toBe(local)
  })

  it('offers the settings among its options', () => {
    const { limiter } = createLimiterWorld()
    expect(limiter.options.get('sessmgr_settings')).toBe(limiter.settings.option)
  })

  it('closes its store once the subscribers are done', async () => {
    const store = memoryStore()
    const events: string[] = []
    store.close = async () => void events.push('closed')
    const { limiter } = createLimiterWorld({ store })
    const gate = deferred()
    limiter.hooks.addAction('sessmgr_destroy_all_sessions', 'slow', async () => {
      await gate.promise
      events.push('done')
    })
    await limiter.sessions.endAll(7)
    const closing = limiter.close()
    await nextTurn()
    expect(events).toEqual([])
    gate.resolve()
    await closing
    expect(events).toEqual(['done', 'closed'])
  })
})

describe('a session that the framework has ended', () => {
  it('was live until then, once', async () => {
    const { limiter, login } = createLimiterWorld()
    const token = tokenOf(String(await login(7)))
    expect([await limiter.release(7, token), await limiter.release(7, token)]).toEqual([true, false])
  })

  it('was not live until then after a site-wide logout', async () => {
    const { limiter, login } = createLimiterWorld()
    const token = tokenOf(String(await login(7)))
    await limiter.sessions.logoutAllUsers()
    expect(await limiter.release(7, token)).toBe(false)
  })
})

describe('what cannot be cleaned up', () => {
  it('is logged when an ended session stays in the session store', async () => {
    const { limiter, warnings } = start(broken)
    await limiter.admit(attempt, async () => ({ sessionId: 'a', ttlMs: 60_000, revert: async () => {} }))
    expect(await limiter.sessions.endAll(2)).toBe(1)
    expect(warnings).toEqual([
      `An ended session could not be deleted from the session store. It is still refused. See ${helpAt(FAILURES)}`,
    ])
  })

  it.each([
    ['is logged when a failed login cannot be taken back', broken, 1],
    ['is nothing when it can be', async () => {}, 0],
  ])('%s', async (_what, revert, warned) => {
    const { limiter, store, warnings } = start()
    store.sessions.commit = broken
    await expect(limiter.admit(attempt, async () => ({ sessionId: 'a', ttlMs: 60_000, revert }))).rejects.toThrow()
    expect(warnings).toHaveLength(warned)
    if (warned) expect(warnings[0]).toMatch(/^A failed login could not be undone in the stores/)
  })
})
