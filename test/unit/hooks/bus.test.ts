import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { createHookBus, filterAtOnce, fireAtOnce } from '../../../src/hooks/bus.ts'
import { createHooks, type Hooks, hookCatalogue } from '../../../src/hooks/hooks.ts'

function createBus(deadlineMs = 1000): { hooks: Hooks; errors: SessmgrError[] } {
  const errors: SessmgrError[] = []
  const onError = (error: SessmgrError) => errors.push(error)
  return { hooks: createHookBus({ catalogue: hookCatalogue, deadlineMs, onError }), errors }
}

const never = new Promise<never>(() => {})

describe('actions', () => {
  it('rule 12: log what a subscriber throws, at once or later, give up on one that hangs, and run the rest', async () => {
    const { hooks, errors } = createBus(10)
    const calls: string[] = []
    const cause = new Error('disk full')
    hooks.addAction('sessmgr_login_blocked', 'throws', () => {
      throw cause
    })
    hooks.addAction('sessmgr_login_blocked', 'rejects', () => Promise.reject('no network'))
    hooks.addAction('sessmgr_login_blocked', 'hangs', () => never)
    hooks.addAction('sessmgr_login_blocked', 'works', () => calls.push('works'))
    await expect(hooks.doAction('sessmgr_login_blocked', 1)).resolves.toBeUndefined()
    expect(calls).toEqual(['works'])
    const failed = (name: string, what: string) => `The subscriber "${name}" to "sessmgr_login_blocked" ${what}`
    expect(errors).toMatchObject([
      { code: 'hook_failed', message: failed('throws', 'failed: disk full'), cause },
      { code: 'hook_failed', message: failed('rejects', 'failed: no network') },
      { code: 'hook_timeout', message: expect.stringContaining(failed('hangs', 'did not respond within 10 ms')) },
    ])
  })

  it('keep the subscribers that a run began with, whatever is added or removed meanwhile', async () => {
    const { hooks } = createBus()
    const calls: string[] = []
    hooks.addAction('lazycomments_activated', 'changes', () => {
      calls.push('changes')
      hooks.addAction('lazycomments_activated', 'added', () => calls.push('added'))
      hooks.addAction('lazycomments_activated', 'added', () => calls.push('added early'), 1)
      hooks.removeAction('lazycomments_activated', 'removed')
      hooks.removeAction('lazycomments_activated', 'changes')
    })
    hooks.addAction('lazycomments_activated', 'removed', () => calls.push('removed'))
    await hooks.doAction('lazycomments_activated')
    expect(calls).toEqual(['changes', 'removed'])
    calls.length = 0
    await hooks.doAction('lazycomments_activated')
    expect(calls).toEqual(['added early', 'added'])
  })
})

describe('filters', () => {
  it('rule 12: fail when a subscriber throws, returns nothing or hangs, and run no further one', async () => {
    const broken = new Error('broken')
    const away = new SessmgrError('store_unavailable', 'The store is away.')
    const thrower = () => {
      throw broken
    }
    for (const [subscriber, error] of [
      [
        thrower,
        {
          code: 'hook_failed',
          message: expect.stringMatching(/"add-on" to "sessmgr_bypass" failed: broken$/),
          cause: broken,
        },
      ],
      [
        () => Promise.reject(broken),
        { code: 'hook_failed', message: expect.stringMatching(/failed: broken$/), cause: broken },
      ],
      [() => undefined, { code: 'hook_failed', message: expect.stringMatching(/"add-on"/) }],
      [async () => undefined, { code: 'hook_failed', message: expect.stringMatching(/"add-on"/) }],
      [() => never, { code: 'hook_timeout', message: expect.stringMatching(/within 10 ms/) }],
      // So that clients try again.
      [
        () => Promise.reject(away),
        { code: 'store_unavailable', status: 503, headers: { 'Retry-After': '2' }, cause: away },
      ],
    ] as const) {
      const { hooks, errors } = createBus(10)
      const calls: string[] = []
      hooks.addFilter('sessmgr_bypass', 'add-on', subscriber as never)
      hooks.addFilter('sessmgr_bypass', 'next', (bypass) => {
        calls.push('next')
        return bypass
      })
      await expect(hooks.applyFilters('sessmgr_bypass', false, 1)).rejects.toMatchObject(error)
      expect([calls, errors]).toEqual([[], []])
    }
  })

  it('keep the subscribers that a run began with, whatever is added or removed meanwhile', async () => {
    const { hooks } = createBus()
    hooks.addFilter('sessmgr_error_message', 'changes', (message) => {
      hooks.addFilter('sessmgr_error_message', 'added', (text) => `${text} added`)
      hooks.removeFilter('sessmgr_error_message', 'removed')
      return `${message} changes`
    })
    hooks.addFilter('sessmgr_error_message', 'removed', (message) => `${message} removed`)
    await expect(hooks.applyFilters('sessmgr_error_message', '')).resolves.toBe(' changes removed')
    await expect(hooks.applyFilters('sessmgr_error_message', '')).resolves.toBe(' changes added')
  })
})

describe('createHooks', () => {
  it('hands what an action subscriber throws to the logger, with the code', async () => {
    const logged: unknown[] = []
    const logger = { warn() {}, error: (message: string, details?: object) => logged.push([message, details]) }
    const hooks = createHooks({ logger, deadlineMs: 100 })
    hooks.addAction('sessmgr_login_blocked', 'mail', () => {
      throw new Error('no mail server')
    })
    await hooks.doAction('sessmgr_login_blocked', 1)
    const message =
      'The subscriber "mail" to "sessmgr_login_blocked" failed: no mail server. ' +
      'See node_modules/sessmgr/docs/troubleshooting.md#hook_failed'
    expect(logged).toEqual([[message, { code: 'hook_failed' }]])
  })
})

describe('a hook to which nobody subscribes', () => {
  it('has its result at once and counts the run, but is no other for who subscribes', async () => {
    const hooks = createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })
    expect(filterAtOnce(hooks, 'sessmgr_bypass', false, 7)).toBe(false)
    expect(fireAtOnce(hooks, 'sessmgr_login_blocked', [7])).toBeUndefined()
    expect([hooks.didFilter('sessmgr_bypass'), hooks.didAction('sessmgr_login_blocked')]).toEqual([1, 1])
    const blocked: unknown[] = []
    hooks.addFilter('sessmgr_bypass', 'test', () => true)
    hooks.addAction('sessmgr_login_blocked', 'test', (userId) => void blocked.push(userId))
    expect(await filterAtOnce(hooks, 'sessmgr_bypass', false, 7)).toBe(true)
    await fireAtOnce(hooks, 'sessmgr_login_blocked', [7])
    expect(blocked).toEqual([7])
    await expect(fireAtOnce(hooks, 'unknown', [])).rejects.toThrow('There is no action "unknown"')
  })
})
