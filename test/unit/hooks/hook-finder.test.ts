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
  it('need a name before the callback, and say so when it is forgotten', () => {
    const { add } = create()
    expect(() => add((() => {}) as never, undefined as never)).toThrow(
      /has no namespace. Put a name before the callback/,
    )
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

  it('may use no namespace that is none, and no priority that is no finite number', () => {
    const { add, has } = create()
    for (const namespace of ['', '1app', 'my app', '-app', '\u00e4pp', 'app\n', undefined, 5]) {
      expect(() => add(namespace as string, () => {}), String(namespace)).toThrow(SessmgrError)
    }
    for (const priority of [Number.NaN, Number.POSITIVE_INFINITY, '10', null]) {
      const message = /priority of the subscriber "ns".*finite number/
      expect(() => add('ns', () => {}, priority as number), String(priority)).toThrow(message)
    }
    expect(has()).toBe(false)
  })
})

describe('misuse of the bus', () => {
  const misuse = (sentence: string) => expect.objectContaining({ code: 'hook_misuse', message: sentence })

  it('is refused for an unknown action, with the name that was probably meant', () => {
    const hooks = createBus()
    for (const [name, hint] of [
      ['session_started', 'Did you mean "sessmgr_session_started"?'],
      ['loginBlocked', 'Did you mean "sessmgr_login_blocked"?'],
      ['sessmgr_bypass', 'It is a filter: use addFilter.'],
      ['sessmgr_bypas', 'Did you mean the filter "sessmgr_bypass"?'],
    ] as const) {
      const wrong = name as 'sessmgr_init'
      const sentence = `There is no action "${name}". ${hint}`
      expect(() => hooks.addAction(wrong, 'ns', () => {})).toThrow(misuse(sentence))
      for (const call of [hooks.hasAction, hooks.didAction]) expect(() => call(wrong)).toThrow(misuse(sentence))
      expect(() => hooks.removeAction(wrong, 'ns')).toThrow(misuse(sentence))
    }
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
