import { describe, expect, it } from 'vitest'
import { arrangeTabs } from '../../../../../src/browser/admin/shell/entries.ts'

const component = () => null
const tab = (key: string, more: object = {}) => ({ key, label: key, component, ...more })
const builtIn = ['settings', 'addons', 'support'].map((key) => tab(key))
const keys = (entries: unknown) => arrangeTabs(entries).map(({ key }) => key)

describe('the order of tabs', () => {
  it('is the wish of a tab to stand before or after another one, or at the end', () => {
    for (const [what, wish, expected] of [
      ['no wish', {}, 'settings addons support x'],
      ['before', { before: 'addons' }, 'settings x addons support'],
      ['after', { after: 'settings' }, 'settings x addons support'],
      ['before and after', { before: 'settings', after: 'support' }, 'x settings addons support'],
      ['before none, and after', { before: 'y', after: 'settings' }, 'settings addons support x'],
      ['beside none', { after: 'y' }, 'settings addons support x'],
    ] as const) {
      expect(keys([...builtIn, tab('x', wish)]).join(' '), what).toBe(expected)
    }
  })

  it('finds a tab that comes later, or has a wish itself', () => {
    expect(keys([tab('x', { before: 'support' }), ...builtIn])).toEqual(['settings', 'addons', 'x', 'support'])
    const chained = keys([...builtIn, tab('y', { after: 'x' }), tab('x', { after: 'settings' })])
    expect(chained.join(' ')).toBe('settings x y addons support')
  })

  it('keeps the order of those with the same wish', () => {
    for (const wish of ['before', 'after']) {
      const arranged = keys([...builtIn, tab('x', { [wish]: 'addons' }), tab('y', { [wish]: 'addons' })])
      expect(
        arranged.filter((key) => 'xy'.includes(key)),
        wish,
      ).toEqual(['x', 'y'])
    }
  })

  it('leaves circles at the end instead of going round in them', () => {
    const circle = keys([...builtIn, tab('x', { after: 'y' }), tab('y', { after: 'x' })])
    expect(circle.join(' ')).toBe('settings addons support x y')
    expect(keys([...builtIn, tab('x', { after: 'x' })])).toEqual(['settings', 'addons', 'support', 'x'])
  })

  it('drops what is no tab', () => {
    const half = [
      { key: 'x', label: 'X' },
      { key: 'x', component },
      { label: 'X', component },
    ]
    const bad = [null, 7, 'tab', {}, tab(''), ...half]
    expect(keys([...builtIn, ...bad])).toEqual(['settings', 'addons', 'support'])
    expect(keys(undefined)).toEqual([])
  })
})
