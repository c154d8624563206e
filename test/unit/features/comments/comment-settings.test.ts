import { beforeEach, describe, expect, test } from 'vitest'
import { createCommentSettings } from '../../../../src/features/comments/comment-settings.ts'
import type { CommentSettingsService } from '../../../../src/features/comments/lazy-comments.ts'
import { createHooks, type Hooks } from '../../../../src/hooks/hooks.ts'
import { memoryStore } from '../../../../src/index.ts'

const DEFAULTS = {
  load_method: 'scroll',
  button_text: 'Load Comments',
  button_style: 'theme',
  button_class: '',
  show_loader: true,
  minimum_count: 1,
  disable_for_bots: true,
  cache_enabled: true,
}

let hooks: Hooks
let settings: CommentSettingsService
beforeEach(() => {
  hooks = createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })
  settings = createCommentSettings(memoryStore().options, hooks)
})

describe('the settings', () => {
  test('are eight, with the defaults of the specification', async () => {
    expect(await settings.all()).toEqual(DEFAULTS)
  })

  test('get gives a value, or the fallback for an unknown key, inherited names included', async () => {
    expect(await settings.get('minimum_count', 7)).toBe(1)
    expect(await settings.get('nothing', 'fallback')).toBe('fallback')
    expect(await settings.get('constructor')).toBeUndefined()
  })

  test('set and update write, keep the other keys, and tell whether anything changed', async () => {
    expect(await settings.set('minimum_count', 3)).toBe(true)
    expect(await settings.set('minimum_count', 3)).toBe(false)
    expect(await settings.set('unknown', 3)).toBe(false)
    expect(await settings.update({ load_method: 'click', show_loader: false })).toBe(true)
    expect(await settings.all()).toEqual({ ...DEFAULTS, minimum_count: 3, load_method: 'click', show_loader: false })
  })

  test('take their defaults from the filter, sanitised; it adds no key', async () => {
    hooks.addFilter('lazycomments_default_settings', 'test', (defaults) => ({
      ...defaults,
      button_text: '<b>More</b>',
      minimum_count: -4,
      extra: 1,
    }))
    expect(await settings.all()).toEqual({ ...DEFAULTS, button_text: 'More' })
  })

  test.each([
    ['load_method', 'click', 'click'],
    ['load_method', 'off', 'off'],
    ['load_method', 'hover', 'scroll'],
    ['load_method', ['click'], 'scroll'],
    ['button_style', 'custom', 'custom'],
    ['button_style', 'fancy', 'theme'],
    ['button_text', ' Show\n\t the   talk ', 'Show the talk'],
    ['button_text', '<b>Show</b><script>', 'Show'],
    ['button_text', '<scr<b>ipt>x', 'x'],
    ['button_text', '<i></i> ', 'Load Comments'],
    ['button_text', '', 'Load Comments'],
    ['button_text', 5, 'Load Comments'],
    ['button_class', 'btn  btn-big\n_x', 'btn btn-big _x'],
    ['button_class', 'a" onclick="x <b> !', 'a onclickx b'],
    ['button_class', {}, ''],
    ['minimum_count', '12', 12],
    ['minimum_count', 2.9, 2],
    ['minimum_count', 0, 1],
    ['minimum_count', -3, 1],
    ['minimum_count', 'many', 1],
    ['show_loader', 0, false],
    ['show_loader', 'false', false],
    ['disable_for_bots', '0', false],
    ['cache_enabled', false, false],
    ['cache_enabled', 'perhaps', true],
  ])('rule 34: %s from %j becomes %j', async (key, given, expected) => {
    await settings.set(key, given)
    expect(await settings.get(key)).toBe(expected)
  })

  test.each([1, '1', 'true', true])('rule 34: %j switches a setting on', async (given) => {
    await settings.set('show_loader', false)
    await settings.set('show_loader', given)
    expect(await settings.get('show_loader')).toBe(true)
  })

  test.each([Infinity, '1e999', 2 ** 60])('rule 34: minimum_count from %j is a whole number', async (given) => {
    await settings.set('minimum_count', given)
    expect(Number.isSafeInteger(await settings.get('minimum_count'))).toBe(true)
  })
})
