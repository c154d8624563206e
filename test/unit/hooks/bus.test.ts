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
  it('rule 12: log what a subscriber throws, at once or later, and run the rest', async () => {
    const { hooks, errors } = createBus()
    const calls: string[] = []
    const cause = new Error('disk full')
    hooks.addAction('sessmgr_login_blocked', 'throws', () => {
      throw cause
    })
    hooks.addAction('sessmgr_login_blocked', 'rejects', () => Promise.reject('no network'))
    hooks.addAction('sessmgr_login_blocked', 'works', () => calls.push('works'))
    await expect(hooks.doAction('sessmgr_login_blocked', 1)).resolves.toBeUndefined()
    expect(calls).toEqual(['works'])
    expect(errors.map(({ code }) => code)).toEqual(['hook_failed', 'hook_failed'])
    expect(errors[0]?.message).toBe('The subscriber "throws" to "sessmgr_login_blocked" failed: disk full')
    expect(errors[0]?.cause).toBe(cause)
    expect(errors[1]?.message).toContain('"rejects"')
    expect(errors[1]?.message).toContain('no network')
  })

  it('give up on a subscriber that does not answer, and run the rest', async () => {
    const { hooks, errors } = createBus(10)
    const calls: string[] = []
    hooks.addAction('sessmgr_login_blocked', 'hangs', () => never)
    hooks.addAction('sessmgr_login_blocked', 'works', () => calls.push('works'))
    await hooks.doAction('sessmgr_login_blocked', 1)
    expect(calls).toEqual(['works'])
    expect(errors.map(({ code }) => code)).toEqual(['hook_timeout'])
    expect(errors[0]?.message).toMatch(/"hangs" to "sessmgr_login_blocked" did not respond within 10 ms/)
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
  it('rule 12: fail with hook_failed when a subscriber throws, at once or later, and run no further one', async () => {
    for (const broken of [
      () => {
        throw new Error('broken')
      },
      () => Promise.reject(new Error('broken')),
    ]) {
      const { hooks, errors } = createBus()
      const calls: string[] = []
      hooks.addFilter('sessmgr_bypass', 'add-on', broken)
      hooks.addFilter('sessmgr_bypass', 'next', (bypass) => {
        calls.push('next')
        return bypass
      })
      const run = hooks.applyFilters('sessmgr_bypass', false, 1)
      await expect(run).rejects.toMatchObject({
        name: 'SessmgrError',
        code: 'hook_failed',
        message: 'The subscriber "add-on" to "sessmgr_bypass" failed: broken',
        cause: new Error('broken'),
      })
      expect(calls).toEqual([])
      expect(errors).toEqual([])
    }
  })

  it('fail with store_unavailable when a subscriber needs a store that is away, so that clients try again', async () => {
    const { hooks } = createBus()
    const away = new SessmgrError('store_unavailable', 'The store is away.')
    hooks.addFilter('sessmgr_bypass', 'add-on', () => Promise.reject(away))
    const run = hooks.applyFilters('sessmgr_bypass', false, 1)
    const message = 'The subscriber "add-on" to "sessmgr_bypass" failed: The store is away.'
    const headers = { 'Retry-After': '2' }
    await expect(run).rejects.toMatchObject({ code: 'store_unavailable', status: 503, headers, message, cause: away })
  })

  it('rule 12: fail with hook_failed when a subscriber returns nothing, at once or later', async () => {
    for (const forgetful of [() => undefined, async () => undefined]) {
      const { hooks } = createBus()
      hooks.addFilter('sessmgr_error_message', 'forgetful', forgetful as never)
      const run = hooks.applyFilters('sessmgr_error_message', 'text')
      await expect(run).rejects.toMatchObject({ code: 'hook_failed', message: expect.stringContaining('"forgetful"') })
    }
  })

  it('fail with hook_timeout when a subscriber does not answer', async () => {
    const { hooks } = createBus(10)
    hooks.addFilter('sessmgr_error_message', 'hangs', () => never)
    const run = hooks.applyFilters('sessmgr_error_message', 'text')
    await expect(run).rejects.toMatchObject({ code: 'hook_timeout', message: expect.stringContaining('within 10 ms') })
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
