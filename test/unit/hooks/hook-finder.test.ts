import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { createHooks } from '../../../src/hooks/hooks.ts'

const createBus = () => createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })

// Actions and filters share the lists of subscribers, whose order wordpress-ordering.test.ts compares.
describe('subscribers', () => {
  const name = 'lazycomments_activated'

  it('are removed one by one with the returned function, which does no harm the second time', async () => {
    const hooks = createBus()
    const calls: string[] = []
    const callback = () => calls.push('same')
    const off = hooks.addAction(name, 'ns', callback)
    hooks.addAction(name, 'ns', callback)
    off()
    off()
    expect(hooks.hasAction(name, 'ns')).toBe(true)
    await hooks.doAction(name)
    expect(calls).toEqual(['same'])
  })

  it('may use no namespace that is none or forgotten, and no priority that is no finite number', () => {
    const hooks = createBus()
    const forgotten = () => hooks.addFilter('sessmgr_bypass', (() => true) as never, undefined as never)
    expect(forgotten).toThrow(/has no namespace. Put a name before the callback/)
    for (const namespace of ['', '1app', 'my app', '-app', '\u00e4pp', 'app\n', undefined, 5]) {
      expect(() => hooks.addAction(name, namespace as string, () => {}), String(namespace)).toThrow(SessmgrError)
    }
    for (const priority of [Number.NaN, Number.POSITIVE_INFINITY, '10', null]) {
      const message = /priority of the subscriber "ns".*finite number/
      expect(() => hooks.addAction(name, 'ns', () => {}, priority as number), String(priority)).toThrow(message)
    }
    expect([hooks.hasAction(name), hooks.hasFilter('sessmgr_bypass')]).toEqual([false, false])
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
