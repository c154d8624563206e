import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { COMMENT_DEFAULTS } from '../../../src/features/comments/comment-settings.ts'
import type { CommentSettings } from '../../../src/features/comments/lazy-comments.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'
import { basic } from '../../support/rest-client.ts'

const OPTION = 'lazycomments_settings'
const SITE = '/api/wp/v2/settings'
const MOST = Number.MAX_SAFE_INTEGER
/** What holds before each write: none of it a default, so that a value that is kept differs from one that falls back. */
const BEFORE: CommentSettings = {
  load_method: 'click',
  button_text: 'Before',
  button_style: 'custom',
  button_class: 'before',
  show_loader: false,
  minimum_count: 9,
  disable_for_bots: false,
  cache_enabled: false,
}

type Values = Readonly<Record<string, unknown>>

let host: CommentsHost
let headers: { authorization: string }
beforeAll(async () => {
  host = await startCommentsHost()
  headers = basic('admin', (await host.limiter.passwords.create(1, 'test')).password)
})
const reset = () => host.comments.settings.update(BEFORE as unknown as Values)
beforeEach(reset)
afterAll(() => host.close())

const PATHS: Record<string, (values: Values) => Promise<unknown>> = {
  'settings.set(), key by key': async (values) => {
    for (const [key, value] of Object.entries(values)) await host.comments.settings.set(key, value)
  },
  'settings.update()': (values) => host.comments.settings.update(values),
  'the named option': (values) => Promise.resolve(host.limiter.options.get(OPTION)?.update(values)),
  'POST /wp/v2/settings': async (values) => {
    const { status, json } = await host.client.send('POST', SITE, { headers, json: { [OPTION]: values } })
    expect([status, json[OPTION]]).toEqual([200, await host.comments.settings.all()])
  },
}

/** A setting, values that are given, and what each of them becomes. */
const ROWS: readonly (readonly [keyof CommentSettings, readonly unknown[], unknown])[] = [
  ['load_method', [null, '', 'SCROLL', 1, ['off'], { off: 1 }], 'scroll'],
  ...['scroll', 'idle', 'click', 'off'].map((value) => ['load_method', [value], value] as const),
  ['button_style', ['custom'], 'custom'],
  ['button_style', ['theme', null, 'Theme', 0, ['custom']], 'theme'],
  ['button_text', ['Show the talk', ' Show\n\tthe \u00a0 talk '], 'Show the talk'],
  ['button_text', ['<b>Show</b> <script>it</script>'], 'Show it'],
  ['button_text', ['<scr<b>ipt>x'], 'x'],
  ['button_text', ['a < b & "c" 💬'], 'a < b & "c" 💬'],
  ['button_text', ['', ' \n', '<i></i>', null, 5, ['x'], { x: 1 }], 'Load Comments'],
  ['button_text', ['x'.repeat(200), 'x'.repeat(201)], 'x'.repeat(200)],
  ['button_class', ['btn btn-big _x'], 'btn btn-big _x'],
  ['button_class', [' a"  onclick="x\t<b> !\n'], 'a onclickx b'],
  ['button_class', ['', '"<>', null, 5, ['a']], ''],
  ['minimum_count', [12, '12', 12.9], 12],
  ['minimum_count', [1, 0, -3, '', 'many', null, false, {}, 0.5], 1],
  ['minimum_count', [MOST, 2 ** 60, Infinity, '1e999'], MOST],
  ['show_loader', [true, 1, '1', 'true'], true],
  ['disable_for_bots', ['true'], true],
  ['cache_enabled', ['true'], true],
  // What is neither keeps the value that held.
  ['show_loader', [false, 0, '0', 'false', 'perhaps', '', null, 2, [], {}], BEFORE.show_loader],
]

test('rule 34: each value is accepted, repaired, or becomes the default, and the other settings stay', async () => {
  for (const [key, values, expected] of ROWS) {
    for (const value of values) {
      await reset()
      await host.comments.settings.update({ [key]: value })
      const message = `${key} from ${JSON.stringify(value)}`
      expect(await host.comments.settings.all(), message).toEqual({ ...BEFORE, [key]: expected })
    }
  }
  for (const value of [false, 0, '0', 'false']) {
    await host.comments.settings.update({ show_loader: true })
    await host.comments.settings.update({ show_loader: value })
    expect(await host.comments.settings.get('show_loader'), JSON.stringify(value)).toBe(false)
  }
})

test.each(Object.entries(PATHS))('rule 34: %s repairs values, and what the filter makes of them', async (_, write) => {
  await write({ load_method: 'off' })
  expect(await host.comments.settings.all()).toEqual({ ...BEFORE, load_method: 'off' })
  expect((await host.limiter.options.get(OPTION)?.get()) as unknown).toEqual({ ...BEFORE, load_method: 'off' })

  const bad = { load_method: 'x', button_text: '<b>', button_style: 'x', button_class: '<', minimum_count: 0 }
  const booleans = { show_loader: '1', disable_for_bots: 1, cache_enabled: 'true' }
  await write({ ...bad, ...booleans, extra: 1, constructor: 'x' })
  expect(await host.comments.settings.all()).toEqual(COMMENT_DEFAULTS)

  await reset()
  const given: unknown[][] = []
  const { hooks } = host.limiter
  hooks.addFilter(`pre_update_option_${OPTION}`, 'test', (value: unknown, before: unknown) => {
    given.push([value, before])
    return { ...(value as object), button_text: '<i>Filtered</i>', minimum_count: '-5' }
  })
  await write({ button_class: 'new' })
  hooks.removeFilter(`pre_update_option_${OPTION}`, 'test')
  // Over REST a value may be looked at before it is written.
  expect(given.at(-1)).toEqual([{ ...BEFORE, button_class: 'new' }, BEFORE])
  const filtered = { ...BEFORE, button_class: 'new', button_text: 'Filtered', minimum_count: 1 }
  expect(await host.comments.settings.all()).toEqual(filtered)
})

test('a write tells whether it changed anything; an unknown key is none, and what is no object refused over REST', async () => {
  const { settings } = host.comments
  const told = [
    await settings.set('minimum_count', 3),
    await settings.set('minimum_count', 3),
    await settings.set('unknown', 3),
    await settings.update({ load_method: 'scroll', show_loader: true }),
  ]
  expect(told).toEqual([true, false, false, true])
  const read = [await settings.get('minimum_count', 7), await settings.get('unknown', 'fallback')]
  expect([...read, await settings.get('constructor')]).toEqual([3, 'fallback', undefined])
  for (const value of ['text', null, ['load_method']]) {
    const { status, json } = await host.client.send('POST', SITE, { headers, json: { [OPTION]: value } })
    expect([value, status, json.code]).toEqual([value, 400, 'rest_invalid_param'])
  }
  expect(await settings.get('minimum_count')).toBe(3)
})

test('lazycomments_default_settings gets the defaults; its result is repaired and holds where nothing is stored', async () => {
  const own = await startCommentsHost()
  const given: unknown[] = []
  own.limiter.hooks.addFilter('lazycomments_default_settings', 'test', (value) => {
    given.push(value)
    return { ...value, button_text: '<b>More</b>', minimum_count: -4, load_method: 'click', extra: 1 } as never
  })
  const changed = { ...COMMENT_DEFAULTS, button_text: 'More', load_method: 'click' }
  expect([await own.comments.settings.all(), given[0]]).toEqual([changed, COMMENT_DEFAULTS])
  await own.comments.settings.set('button_text', 'Stored')
  expect(await own.comments.settings.all()).toEqual({ ...changed, button_text: 'Stored' })
  await own.close()
})
