import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LazyComments, sessmgr } from '../../../src/index.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const READER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36' }
const BOT = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' }
const NOBODY = { 'user-agent': ' ' }

let host: CommentsHost
beforeEach(async () => {
  host = await startCommentsHost()
})
afterEach(() => host.close())

const page = async (headers = READER) => (await host.client.send('GET', '/posts/1', { headers })).text
const isLazy = (html: string) => [html.includes('<lazy-comments'), html.includes('<script'), html.includes('Voice 20.')]
const LAZY = [true, true, false]
const INLINE = [false, false, true]
const fetched = (postId: number) => host.client.send('GET', `/api/lazycomments/v1/comments?post_id=${postId}`)

test('rules 30 and 31: settings, number, reader and page decide whether comments load lazily', async () => {
  const welcome = { disable_for_bots: false }
  for (const [what, settings, headers, count, expected, single = true] of [
    ['a reader of one comment', {}, READER, 1, true],
    ['method click', { load_method: 'click' }, READER, 1, true],
    ['method off', { load_method: 'off' }, READER, 1, false],
    ['not a single post', {}, READER, 1, false, false],
    ['no comment', {}, READER, 0, false],
    ['below the minimum', { minimum_count: 5 }, READER, 4, false],
    ['exactly the minimum', { minimum_count: 5 }, READER, 5, true],
    ['a bot', {}, BOT, 1, false],
    ['no user agent', {}, {}, 1, false],
    ['a bot that is welcome', welcome, BOT, 1, true],
    ['nobody, who is welcome', welcome, NOBODY, 1, true],
  ] as const) {
    await host.comments.settings.reset()
    await host.comments.settings.update(settings)
    const request = { url: '/', headers } as never
    const post = { id: 1, status: 'published', comments: Array(count).fill('Voice.') }
    const parts = [
      await host.comments.render(request, post, { single }),
      await host.comments.script(request, post, { single }),
    ]
    const lazy = [parts[0]?.startsWith('<lazy-comments'), parts[1]?.includes('<script')]
    expect(lazy, what).toEqual([expected, expected])
  }
})

test('rule 31: a request decides once for script and comments, for each post apart, and the next one anew', async () => {
  const verdicts: boolean[] = []
  host.limiter.hooks.addFilter('lazycomments_can_lazy_load', 'test', (can) => {
    verdicts.push(can)
    // What would tear script and placeholder apart if it were asked twice.
    return verdicts.length % 2 === 1
  })
  expect([isLazy(await page()), verdicts]).toEqual([LAZY, [true]])
  expect([isLazy(await page()), verdicts]).toEqual([INLINE, [true, true]])
  host.limiter.hooks.removeFilter('lazycomments_can_lazy_load', 'test')
  host.posts.set(2, { id: 2, status: 'published', comments: [] })
  const request = { url: '/', headers: READER } as never
  const html = await Promise.all([1, 2, 1].map((id) => host.comments.render(request, host.posts.get(id))))
  expect(html.map((one) => one.includes('<lazy-comments'))).toEqual([true, false, true])
})

test('lazycomments_can_lazy_load gets what the checks say, decides over it, and has no say in the route', async () => {
  const { hooks } = host.limiter
  const ask = async (headers: typeof READER, verdict: boolean) => {
    const given: unknown[][] = []
    hooks.addFilter('lazycomments_can_lazy_load', 'test', async (...args) => {
      given.push(args)
      return verdict
    })
    const lazy = isLazy(await page(headers))
    hooks.removeFilter('lazycomments_can_lazy_load', 'test')
    return [lazy, given]
  }
  expect(await ask(READER, true)).toEqual([LAZY, [[true]]])
  expect(await ask(READER, false)).toEqual([INLINE, [[true]]])
  expect(await ask(BOT, true)).toEqual([LAZY, [[false]]])
  await host.comments.settings.set('load_method', 'off')
  expect(await ask(READER, true)).toEqual([LAZY, [[false]]])
  hooks.addFilter('lazycomments_can_lazy_load', 'test', () => false)
  expect((await fetched(1)).json.html).toContain('Voice 20.')
})

test('lazycomments_rendered_html gets the markup and the post itself, and gives what goes to the browser, in order', async () => {
  const given: unknown[][] = []
  const { hooks } = host.limiter
  hooks.addFilter('lazycomments_rendered_html', 'late', async (html) => `${html}<!-- late -->`, 20)
  hooks.addFilter('lazycomments_rendered_html', 'early', (html, post) => {
    given.push([html, post])
    return '<p>Changed</p>'
  })
  expect((await fetched(1)).json).toEqual({ html: '<p>Changed</p><!-- late -->' })
  expect(given).toEqual([[expect.stringContaining('Voice 20.'), host.posts.get(1)]])
  // Not asked for a post that is missing, not public or locked, nor for comments inline.
  for (const postId of [4, 5, 999]) await fetched(postId)
  expect(isLazy(await page(BOT))).toEqual(INLINE)
  expect(given).toHaveLength(1)
  hooks.addFilter('lazycomments_rendered_html', 'broken', () => {
    throw new Error('broken')
  })
  const { status, text, headers } = await fetched(1)
  expect([status, text.includes('Voice'), headers['cache-control']]).toEqual([500, false, 'no-store'])
})

test('lazycomments_init fires once, with the core, which waits for its code from the first call on', async () => {
  const post = { id: 1 }
  const posts = { find: () => post, id: () => 1, url: () => '/1', isPublic: () => true, countComments: () => 1 }
  const theme = { renderComments: () => '<p>Hello</p>' }
  const limiter = sessmgr({ host: { ...restHostOf(createRestUsers()), posts, theme } })
  const seen: unknown[][] = []
  limiter.hooks.addAction('lazycomments_init', 'test', (...args) => void seen.push(args))
  const comments = limiter.comments as LazyComments
  const early = await Promise.all([comments.placeholder(post), comments.settings.set('minimum_count', 3)])
  expect(early).toEqual([expect.stringContaining('comments?post_id=1'), true])
  await expect.poll(() => seen).toEqual([[comments]])
  await limiter.close()
})

test('lazycomments_activated and lazycomments_deactivated fire each time, with nothing', async () => {
  const fired: unknown[][] = []
  for (const name of ['lazycomments_activated', 'lazycomments_deactivated'] as const) {
    host.limiter.hooks.addAction(name, 'test', (...args: unknown[]) => void fired.push([name, ...args]))
  }
  await host.comments.cache.set(1, 'kept')
  await host.comments.activate()
  await host.comments.deactivate()
  await host.comments.activate()
  expect(fired).toEqual([['lazycomments_activated'], ['lazycomments_deactivated'], ['lazycomments_activated']])
  expect(await host.comments.cache.get(1)).toBe('kept')
})
