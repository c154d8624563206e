import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { createHooks } from '../../../src/hooks/hooks.ts'

const createBus = () => createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })

/** The two kinds of hooks through one set of names, so that each case holds for both. */
const kinds = {
  action: () => {
    const hooks = createBus()
    const name = 'lazycomments_activated'
    return {
      add: (namespace: string, callback: () => void, priority?: number) =>
        hooks.addAction(name, namespace, callback, priority),
      remove: (namespace: string) => hooks.removeAction(name, namespace),
      has: (namespace?: string) => hooks.hasAction(name, namespace),
      did: () => hooks.didAction(name),
      run: () => hooks.doAction(name),
    }
  },
  filter: () => {
    const hooks = createBus()
    const name = 'sessmgr_error_message'
    return {
      add: (namespace: string, callback: () => void, priority?: number) =>
        hooks.addFilter(
          name,
          namespace,
          (message) => {
            callback()
            return message
          },
          priority,
        ),
      remove: (namespace: string) => hooks.removeFilter(name, namespace),
      has: (namespace?: string) => hooks.hasFilter(name, namespace),
      did: () => hooks.didFilter(name),
      run: () => hooks.applyFilters(name, 'text'),
    }
  },
}

describe.each(Object.entries(kinds))('subscribers to an %s', (_, create) => {
  it('are found by namespace, or at all', () => {
    const { add, has } = create()
    expect(has()).toBe(false)
    add('my-app', () => {})
    expect([has(), has('my-app'), has('other')]).toEqual([true, true, false])
  })

  it('need a name before the callback, and say so when it is forgotten', () => {
    const { add } = create()
    expect(() => add((() => {}) as never, undefined as never)).toThrow(
      /has no namespace. Put a name before the callback/,
    )
  })

  it('are removed by namespace, all of it and no other, and counted', async () => {
    const { add, remove, has, run } = create()
    const calls: string[] = []
    add('gone', () => calls.push('gone 1'))
    add('kept', () => calls.push('kept'))
    add('gone', () => calls.push('gone 2'), 1)
    expect(remove('gone')).toBe(2)
    expect(remove('gone')).toBe(0)
    expect([has('gone'), has('kept')]).toEqual([false, true])
    await run()
    expect(calls).toEqual(['kept'])
  })

  it('are removed one by one with the returned function, which does no harm the second time', async () => {
    const { add, has, run } = create()
    const calls: string[] = []
    const callback = () => calls.push('same')
    const off = add('ns', callback)
    add('ns', callback)
    off()
    off()
    expect(has('ns')).toBe(true)
    await run()
    expect(calls).toEqual(['same'])
  })

  it('do not matter for the count of runs', async () => {
    const { add, did, run } = create()
    expect(did()).toBe(0)
    await run()
    add('ns', () => {})
    await run()
    expect(did()).toBe(2)
  })

  it.each(['', '1app', 'my app', '-app', 'äpp', 'app\n', undefined, 5])('may not use the namespace %j', (namespace) => {
    const { add, has } = create()
    expect(() => add(namespace as string, () => {})).toThrow(SessmgrError)
    expect(has()).toBe(false)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, '10', null])('may not use the priority %j', (priority) => {
    const { add, has } = create()
    expect(() => add('ns', () => {}, priority as number)).toThrow(/priority of the subscriber "ns".*finite number/)
    expect(has()).toBe(false)
  })
})

describe('misuse of the bus', () => {
  const misuse = (sentence: string) => expect.objectContaining({ code: 'hook_misuse', message: sentence })

  it.each([
    ['session_started', 'Did you mean "sessmgr_session_started"?'],
    ['loginBlocked', 'Did you mean "sessmgr_login_blocked"?'],
    ['sessmgr_bypass', 'It is a filter: use addFilter.'],
    ['sessmgr_bypas', 'Did you mean the filter "sessmgr_bypass"?'],
  ])('suggests what was probably meant by the action %s', (name, hint) => {
    const sentence = `There is no action "${name}". ${hint}`
    expect(() => createBus().addAction(name as 'sessmgr_init', 'ns', () => {})).toThrow(misuse(sentence))
  })

  it('throws for an unknown action, with the name that was probably meant', () => {
    const hooks = createBus()
    const wrong = 'sessmgr_login_blockt' as 'sessmgr_login_blocked'
    const sentence = 'There is no action "sessmgr_login_blockt". Did you mean "sessmgr_login_blocked"?'
    expect(() => hooks.addAction(wrong, 'ns', () => {})).toThrow(misuse(sentence))
    expect(() => hooks.removeAction(wrong, 'ns')).toThrow(misuse(sentence))
    expect(() => hooks.hasAction(wrong)).toThrow(misuse(sentence))
    expect(() => hooks.didAction(wrong)).toThrow(misuse(sentence))
  })

  it('rejects when an unknown hook is run', async () => {
    const hooks = createBus()
    const misused = { code: 'hook_misuse' }
    await expect(hooks.doAction('sessmgr_inid' as 'sessmgr_init', 0)).rejects.toMatchObject(misused)
    await expect(hooks.applyFilters('sessmgr_logic' as 'sessmgr_logics', {})).rejects.toMatchObject(misused)
  })

  it('does not take a filter for an action, or what every object has for a hook', () => {
    const hooks = createBus()
    for (const name of ['sessmgr_bypass', 'constructor', '__proto__', 'toString']) {
      expect(() => hooks.addAction(name as 'sessmgr_init', 'ns', () => {}), name).toThrow(
        `There is no action "${name}"`,
      )
    }
    for (const name of ['sessmgr_init', 'constructor', '__proto__', 'toString']) {
      const add = () => hooks.addFilter(name as 'sessmgr_bypass', 'ns', (bypass) => bypass)
      expect(add, name).toThrow(`There is no filter "${name}"`)
    }
  })

  it('does not throw for a filter of a family, whatever the name that completes it', async () => {
    const hooks = createBus()
    hooks.addFilter('pre_update_option_theirs', 'ns', (value) => [value])
    expect(await hooks.applyFilters('pre_update_option_theirs', 1, 0)).toEqual([1])
    expect(await hooks.applyFilters('pre_update_option_another', 1, 0)).toBe(1)
    expect(hooks.hasFilter('pre_update_option_another')).toBe(false)
    expect(() => hooks.hasFilter('pre_update_option_')).toThrow('There is no filter "pre_update_option_"')
  })

  it('throws for a subscriber that is no function', () => {
    const hooks = createBus()
    const sentence = 'The subscriber "ns" to "sessmgr_init" must be a function.'
    expect(() => hooks.addAction('sessmgr_init', 'ns', undefined as unknown as () => void)).toThrow(misuse(sentence))
    expect(hooks.hasAction('sessmgr_init')).toBe(false)
  })
})
