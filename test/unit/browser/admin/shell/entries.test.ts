import { describe, expect, it } from 'vitest'
import { arrangeTabs } from '../../../../../src/browser/admin/shell/entries.ts'

const component = () => null
const tab = (key: string, more: object = {}) => ({ key, label: key, component, ...more })
const builtIn = ['settings', 'addons', 'support'].map((key) => tab(key))
const keys = (entries: unknown) => arrangeTabs(entries).map(({ key }) => key)

describe('the order of tabs', () => {
  it.each([
    ['appends a tab without a wish', tab('x'), ['settings', 'addons', 'support', 'x']],
    ['puts a tab before another', tab('x', { before: 'addons' }), ['settings', 'x', 'addons', 'support']],
    ['puts a tab after another', tab('x', { after: 'settings' }), ['settings', 'x', 'addons', 'support']],
    [
      'ignores after when before is set',
      tab('x', { before: 'settings', after: 'support' }),
      ['x', 'settings', 'addons', 'support'],
    ],
    [
      'ignores after also when before names no tab',
      tab('x', { before: 'y', after: 'settings' }),
      ['settings', 'addons', 'support', 'x'],
    ],
    [
      'appends a tab that wishes to stand beside none',
      tab('x', { after: 'y' }),
      ['settings', 'addons', 'support', 'x'],
    ],
  ])('%s', (_what, added, expected) => {
    expect(keys([...builtIn, added])).toEqual(expected)
  })

  it('lets a later entry with the same key replace an earlier one in its place', () => {
    const mine = tab('addons', { label: 'Mine' })
    const arranged = arrangeTabs([...builtIn, mine])
    expect(arranged.map(({ label }) => label)).toEqual(['settings', 'Mine', 'support'])
    expect(arranged[1]).toBe(mine)
  })

  it('moves a replacement that wishes to stand elsewhere', () => {
    expect(keys([...builtIn, tab('support', { before: 'settings' })])).toEqual(['support', 'settings', 'addons'])
  })

  it('finds a tab that comes later, or has a wish itself', () => {
    expect(keys([tab('x', { before: 'support' }), ...builtIn])).toEqual(['settings', 'addons', 'x', 'support'])
    expect(keys([...builtIn, tab('y', { after: 'x' }), tab('x', { after: 'settings' })])).toEqual([
      'settings',
      'x',
      'y',
      'addons',
      'support',
    ])
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
    expect(keys([...builtIn, tab('x', { after: 'y' }), tab('y', { after: 'x' })])).toEqual([
      'settings',
      'addons',
      'support',
      'x',
      'y',
    ])
    expect(keys([...builtIn, tab('x', { after: 'x' })])).toEqual(['settings', 'addons', 'support', 'x'])
  })

  it('drops what is no tab', () => {
    const bad = [
      null,
      7,
      'tab',
      {},
      tab(''),
      { key: 'x', label: 'X' },
      { key: 'x', component },
      { label: 'X', component },
    ]
    expect(keys([...builtIn, ...bad])).toEqual(['settings', 'addons', 'support'])
    expect(keys(undefined)).toEqual([])
  })
})
