import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { createHookBus } from '../../../src/hooks/bus.ts'
import { createHooks, type Hooks, hookCatalogue } from '../../../src/hooks/hooks.ts'
import { deferred, nextTurn } from '../../support/deferred.ts'

function createBus(deadlineMs = 1000): { hooks: Hooks; errors: SessmgrError[] } {
  const errors: SessmgrError[] = []
  const onError = (error: SessmgrError) => errors.push(error)
  return { hooks: createHookBus({ catalogue: hookCatalogue, deadlineMs, onError }), errors }
}

const never = new Promise<never>(() => {})

describe('actions', () => {
  it('pass their parameters to every subscriber', async () => {
    const { hooks } = createBus()
    const calls: unknown[] = []
    hooks.addAction('sessmgr_destroy_session', 'one', (userId, token) => calls.push(['one', userId, token]))
    hooks.addAction('sessmgr_destroy_session', 'two', (userId, token) => calls.push(['two', userId, token]))
    await hooks.doAction('sessmgr_destroy_session', 7, 'abc')
    expect(calls).toEqual([
      ['one', 7, 'abc'],
      ['two', 7, 'abc'],
    ])
  })

  it('run lower priorities first, 10 by default, and equal ones in order of registration', async () => {
    const { hooks } = createBus()
    const calls: string[] = []
    const add = (name: string, priority?: number) =>
      hooks.addAction('lazycomments_activated', 'ns', () => calls.push(name), priority)
    add('default 1')
    add('late', 11)
    add('first', -5)
    add('default 2', 10)
    add('between', 9.5)
    add('default 3')
    await hooks.doAction('lazycomments_activated')
    expect(calls).toEqual(['first', 'between', 'default 1', 'default 2', 'default 3', 'late'])
  })

  it('run synchronous subscribers before doAction returns', () => {
    const { hooks } = createBus()
    const calls: string[] = []
    hooks.addAction('lazycomments_activated', 'a', () => calls.push('a'))
    hooks.addAction('lazycomments_activated', 'b', () => calls.push('b'))
    void hooks.doAction('lazycomments_activated')
    expect(calls).toEqual(['a', 'b'])
  })

  it('make those after an asynchronous subscriber wait for it', async () => {
    const { hooks } = createBus()
    const calls: string[] = []
    const held = deferred()
    const slow = async () => {
      calls.push('slow begins')
      await held.promise
      calls.push('slow ends')
    }
    hooks.addAction('lazycomments_activated', 'before', () => calls.push('before'))
    hooks.addAction('lazycomments_activated', 'slow', slow)
    hooks.addAction('lazycomments_activated', 'after', () => calls.push('after'))
    const run = hooks.doAction('lazycomments_activated')
    expect(calls).toEqual(['before', 'slow begins'])
    await nextTurn()
    expect(calls).toEqual(['before', 'slow begins'])
    held.resolve()
    await run
    expect(calls).toEqual(['before', 'slow begins', 'slow ends', 'after'])
  })

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

  it('may fire one another, and themselves', async () => {
    const { hooks } = createBus()
    const calls: unknown[] = []
    hooks.addAction('sessmgr_login_blocked', 'outer', async (userId) => {
      calls.push(userId)
      if (userId === 1) await hooks.doAction('sessmgr_login_blocked', 2)
      calls.push('end')
    })
    await hooks.doAction('sessmgr_login_blocked', 1)
    expect(calls).toEqual([1, 2, 'end', 'end'])
  })
})

describe('filters', () => {
  it('pass a value through every subscriber in order, with the further parameters', async () => {
    const { hooks } = createBus()
    hooks.addFilter('sessmgr_reached_limit', 'last', (reached, userId, count) => reached && userId === 7 && count === 3)
    hooks.addFilter('sessmgr_reached_limit', 'first', (reached) => !reached, 5)
    await expect(hooks.applyFilters('sessmgr_reached_limit', false, 7, 3)).resolves.toBe(true)
    await expect(hooks.applyFilters('sessmgr_reached_limit', false, 7, 4)).resolves.toBe(false)
    await expect(hooks.applyFilters('sessmgr_reached_limit', true, 7, 3)).resolves.toBe(false)
  })

  it('mix synchronous and asynchronous subscribers', async () => {
    const { hooks } = createBus()
    hooks.addFilter('sessmgr_error_message', 'a', (message) => `${message}a`)
    hooks.addFilter('sessmgr_error_message', 'b', async (message) => {
      await nextTurn()
      return `${message}b`
    })
    hooks.addFilter('sessmgr_error_message', 'c', (message) => `${message}c`)
    await expect(hooks.applyFilters('sessmgr_error_message', '-')).resolves.toBe('-abc')
  })

  it('give back the value itself when nobody subscribes', async () => {
    const { hooks } = createBus()
    const defaults = { maximum: 1 }
    expect(await hooks.applyFilters('sessmgr_settings_defaults', defaults)).toBe(defaults)
  })

  it.each([false, 0, '', null])('accept %j as an answer', async (answer) => {
    const { hooks } = createBus()
    hooks.addFilter('lazycomments_capability', 'falsy', () => answer as string)
    expect(await hooks.applyFilters('lazycomments_capability', 'manage_options')).toBe(answer)
  })

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

  it('give each subscriber its own deadline', async () => {
    const { hooks } = createBus(500)
    const slow = async (message: string) => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return `${message}.`
    }
    for (let count = 0; count < 6; count++) hooks.addFilter('sessmgr_error_message', 'slow', slow)
    await expect(hooks.applyFilters('sessmgr_error_message', '')).resolves.toBe('......')
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
