import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { COMMENT_DEFAULTS } from '../../../src/features/comments/comment-settings.ts'
import type { CommentSettings } from '../../../src/features/comments/lazy-comments.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'
import { basic } from '../../support/rest-client.ts'

const OPTION = 'lazycomments_settings'
const SITE = '/api/wp/v2/settings'
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
beforeEach(async () => {
  await host.comments.settings.update(BEFORE as unknown as Values)
})
afterAll(() => host.close())

async function overRest(method: string, values: Values): Promise<void> {
  const { status, json } = await host.client.send(method, SITE, { headers, json: { [OPTION]: values } })
  expect(status).toBe(200)
  expect(json[OPTION]).toEqual(await host.comments.settings.all())
}

const PATHS: Record<string, (values: Values) => Promise<unknown>> = {
  'the helper, key by key': async (values) => {
    for (const [key, value] of Object.entries(values)) await host.comments.settings.set(key, value)
  },
  'the helper, at once': (values) => host.comments.settings.update(values),
  'the named option': (values) => Promise.resolve(host.limiter.options.get(OPTION)?.update(values)),
  'POST /wp/v2/settings': (values) => overRest('POST', values),
  'PUT /wp/v2/settings': (values) => overRest('PUT', values),
  'PATCH /wp/v2/settings': (values) => overRest('PATCH', values),
}

const ROWS: readonly (readonly [keyof CommentSettings, unknown, unknown])[] = [
  ...(['scroll', 'click', 'off'] as const).map((value) => ['load_method', value, value] as const),
  ...[null, '', 'SCROLL', 'hover', 1, true, ['off'], { off: 1 }].map(
    (value) => ['load_method', value, 'scroll'] as const,
  ),
  ...(['theme', 'custom'] as const).map((value) => ['button_style', value, value] as const),
  ...[null, '', 'Theme', 0, ['custom']].map((value) => ['button_style', value, 'theme'] as const),
  ['button_text', 'Show the talk', 'Show the talk'],
  ['button_text', ' Show\n\tthe \u00a0 talk ', 'Show the talk'],
  ['button_text', '<b>Show</b> <script>it</script>', 'Show it'],
  ['button_text', '<scr<b>ipt>x', 'x'],
  ['button_text', 'a < b & "c" 💬', 'a < b & "c" 💬'],
  ...['', ' \n', '<i></i>', null, 5, true, ['x'], { x: 1 }].map(
    (value) => ['button_text', value, 'Load Comments'] as const,
  ),
  ['button_text', 'x'.repeat(5000), 'x'.repeat(200)],
  ['button_class', 'btn btn-big _x', 'btn btn-big _x'],
  ['button_class', ' a"  onclick="x\t<b> !\n', 'a onclickx b'],
  ...['', '"<>', null, 5, ['a'], { a: 1 }].map((value) => ['button_class', value, ''] as const),
  ...[1, 12, Number.MAX_SAFE_INTEGER].map((value) => ['minimum_count', value, value] as const),
  ['minimum_count', '12', 12],
  ['minimum_count', 2.9, 2],
  ...[0, -3, '', 'many', null, false, {}, 0.5].map((value) => ['minimum_count', value, 1] as const),
  ['minimum_count', 2 ** 60, Number.MAX_SAFE_INTEGER],
  ...[true, 1, '1', 'true'].map((value) => ['show_loader', value, true] as const),
  ...[false, 0, '0', 'false'].map((value) => ['show_loader', value, false] as const),
  // What is neither keeps the value that held.
  ...['perhaps', '', null, 2, [], {}].map((value) => ['show_loader', value, BEFORE.show_loader] as const),
  ...(['disable_for_bots', 'cache_enabled'] as const).map((key) => [key, 'true', true] as const),
]

/** What every path does: a good value, one of another type, one to be mended, one to be kept. The helper shows the rest. */
const OF_EACH_PATH = ROWS.filter(([key, given]) =>
  [
    ['load_method', 'off'],
    ['load_method', null],
    ['button_text', '<b>Show</b> <script>it</script>'],
    ['minimum_count', 0],
    ['show_loader', 'perhaps'],
  ].some(([name, value]) => key === name && given === value),
)

describe.each(Object.entries(PATHS))('rule 34: through %s', (name, write) => {
  test.each(name === 'the helper, at once' ? ROWS : OF_EACH_PATH)(
    '%s from %j becomes %j, and the other keys stay',
    async (key, given, expected) => {
      await write({ [key]: given })
      expect(await host.comments.settings.all()).toEqual({ ...BEFORE, [key]: expected })
      expect((await host.limiter.options.get(OPTION)?.get()) as unknown).toEqual({ ...BEFORE, [key]: expected })
    },
  )

  test('all eight keys at once are sanitised, and what is no setting is dropped', async () => {
    const bad = { load_method: 'x', button_text: '<b>', button_style: 'x', button_class: '<', minimum_count: 0 }
    const booleans = { show_loader: '1', disable_for_bots: 1, cache_enabled: 'true' }
    await write({ ...bad, ...booleans, extra: 1, constructor: 'x' })
    expect(await host.comments.settings.all()).toEqual(COMMENT_DEFAULTS)
  })

  test('the filter before a write sees the whole new value, and what it returns is sanitised, too', async () => {
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
    const expected = { ...BEFORE, button_class: 'new', button_text: 'Filtered', minimum_count: 1 }
    expect(await host.comments.settings.all()).toEqual(expected)
  })
})

test.each(['POST', 'PUT', 'PATCH'])(
  '%s of something that is no object is refused, and nothing changes',
  async (method) => {
    for (const value of ['text', 5, null, ['load_method'], true]) {
      const { status, json } = await host.client.send(method, SITE, { headers, json: { [OPTION]: value } })
      expect([status, json.code]).toEqual([400, 'rest_invalid_param'])
    }
    expect(await host.comments.settings.all()).toEqual(BEFORE)
  },
)

test('each write shows in the next placeholder', async () => {
  const request = { url: '/', headers: { 'user-agent': 'Mozilla/5.0 Chrome/156.0.0.0 Safari/537.36' } } as never
  const render = () => host.comments.render(request, host.posts.get(1))
  const shown = async () => {
    const html = await render()
    const [, method] = / method="(\w+)"/.exec(html) ?? []
    const [, classes, text] = /<a class="([^"]*)"[^>]*>([^<]*)</.exec(html) ?? []
    return { method, loader: html.includes(' loader=""'), classes, text }
  }
  const before = { method: 'click', loader: false, classes: 'lazycomments-button lazycomments-custom before' }
  expect(await shown()).toEqual({ ...before, text: 'Before' })
  const values = {
    load_method: 'scroll',
    button_text: 'A & B',
    button_style: 'theme',
    button_class: 'a b',
    show_loader: true,
  }
  await overRest('POST', values)
  const after = { method: 'scroll', loader: true, classes: 'lazycomments-button a b', text: 'A &amp; B' }
  expect(await shown()).toEqual(after)
})
