import { describe, expect, it, vi } from 'vitest'
import { createScreenHooks } from '../../../../../src/browser/admin/shell/screen-hooks.ts'

const TEXTS = 'sessmgr.admin.i18n'

describe('the hooks of the screen', () => {
  it('pass a value through at once, by priority and then in order of registration', () => {
    const { hooks } = createScreenHooks()
    const add = (letter: string) => (value: unknown) => `${value}${letter}`
    hooks.addFilter('addon.word', 'late', add('c'), 20)
    hooks.addFilter('addon.word', 'first', add('a'))
    hooks.addFilter('addon.word', 'second', add('b'))
    expect(hooks.applyFilters('addon.word', '')).toBe('abc')
    expect([hooks.didFilter('addon.word'), hooks.hasFilter('addon.word', 'late')]).toEqual([1, true])
    expect(hooks.removeFilter('addon.word', 'first')).toBe(1)
    expect(hooks.applyFilters('addon.word', '')).toBe('bc')
  })

  it('pass over a subscriber that throws or returns nothing, and name it once', async () => {
    const { hooks, changes } = createScreenHooks()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    hooks.addFilter(TEXTS, 'thrower', () => {
      throw new Error('no')
    })
    hooks.addFilter(TEXTS, 'silent', (() => undefined) as never)
    hooks.addFilter(TEXTS, 'good', (texts) => ({ ...texts, x: 'y' }))
    expect(hooks.applyFilters(TEXTS, {})).toEqual({ x: 'y' })
    expect(hooks.applyFilters(TEXTS, {})).toEqual({ x: 'y' })
    expect(changes.problems()).toEqual([
      { namespace: 'thrower', hook: TEXTS, reason: 'no' },
      { namespace: 'silent', hook: TEXTS, reason: 'It returned nothing.' },
    ])
    expect(logged).toHaveBeenCalledTimes(2)
    logged.mockRestore()
  })

  it('survive whatever is thrown, and what was done to a list before', () => {
    const { hooks, changes } = createScreenHooks()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    hooks.addFilter('sessmgr.settings.panels', 'vandal', (panels) => {
      ;(panels as unknown[]).length = 0
      throw Object.create(null)
    })
    const panels = [{ id: 'a', Component: () => null }]
    expect(hooks.applyFilters('sessmgr.settings.panels', [...panels])).toEqual(panels)
    expect(changes.problems()).toEqual([{ namespace: 'vandal', hook: 'sessmgr.settings.panels', reason: 'object' }])
    logged.mockRestore()
  })

  it('let a filter that receives nothing return nothing', () => {
    const { hooks, changes } = createScreenHooks()
    const name = 'sessmgr.settings.force_logout.cross_sell'
    hooks.addFilter(name, 'quiet', () => undefined)
    expect(hooks.applyFilters(name, undefined)).toBeUndefined()
    hooks.addFilter(name, 'hider', () => null)
    expect(hooks.applyFilters(name, undefined)).toBeNull()
    expect(changes.problems()).toEqual([])
  })

  it('run actions, the next one too when one throws', () => {
    const { hooks } = createScreenHooks()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const saved: unknown[] = []
    hooks.addAction('sessmgr.admin.saved', 'thrower', () => {
      throw new Error('no')
    })
    hooks.addAction('sessmgr.admin.saved', 'good', (names) => saved.push(names))
    hooks.doAction('sessmgr.admin.saved', ['a'])
    expect(saved).toEqual([['a']])
    expect([hooks.didAction('sessmgr.admin.saved'), hooks.hasAction('sessmgr.admin.saved')]).toEqual([1, true])
    expect(hooks.removeAction('sessmgr.admin.saved', 'good')).toBe(1)
    logged.mockRestore()
  })

  it('know no other names, and say which one was meant', () => {
    const { hooks } = createScreenHooks()
    expect(() => hooks.addFilter('sessmgr.admin.tab' as never, 'x', (value) => value)).toThrow(
      'Did you mean "sessmgr.admin.tabs"?',
    )
  })
})
