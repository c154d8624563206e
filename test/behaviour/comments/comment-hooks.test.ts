import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COMMENT_DEFAULTS } from '../../../src/features/comments/comment-settings.ts'
import { commentHooks } from '../../../src/hooks/comment-hooks.ts'
import { type LazyComments, sessmgr } from '../../../src/index.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const READER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36' }
const BOT = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' }

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
const clear = async (login?: string) => {
  const who = login === undefined ? undefined : await host.signIn(login)
  const headers = who ? { cookie: who.cookie, 'x-host-nonce': who.nonce } : {}
  return (await host.client.send('DELETE', '/api/lazycomments/v1/cache', { headers })).status
}

test('there are eight hooks, each with the parameters of the specification', () => {
  const all = Object.entries({ ...commentHooks.actions, ...commentHooks.filters })
  expect(Object.fromEntries(all.map(([name, { parameters }]) => [name, parameters]))).toEqual({
    lazycomments_init: ['core'],
    lazycomments_activated: [],
    lazycomments_deactivated: [],
    lazycomments_can_lazy_load: ['can'],
    lazycomments_rendered_html: ['html', 'post'],
    lazycomments_default_settings: ['defaults'],
    lazycomments_capability: ['capability'],
    lazycomments_has_access: ['has_access'],
  })
})

describe('lazycomments_can_lazy_load', () => {
  test.each([
    ['a reader', READER, true, LAZY],
    ['a reader', READER, false, INLINE],
    ['a bot', BOT, true, LAZY],
    ['a bot', BOT, false, INLINE],
  ])('is given what the checks say of %s (%j), and %j decides', async (_name, headers, verdict, expected) => {
    const given: unknown[][] = []
    host.limiter.hooks.addFilter('lazycomments_can_lazy_load', 'test', (...args) => {
      given.push(args)
      return verdict
    })
    expect(isLazy(await page(headers))).toEqual(expected)
    expect(given).toEqual([[headers === READER]])
  })

  test.each([['load_method', 'off'] as const, ['minimum_count', 21] as const])(
    'is given false with %s %s, and may still load lazily',
    async (key, value) => {
      await host.comments.settings.set(key, value)
      const given: boolean[] = []
      host.limiter.hooks.addFilter('lazycomments_can_lazy_load', 'test', async (can) => given.push(can) > 0)
      expect(isLazy(await page())).toEqual(LAZY)
      expect(given).toEqual([false])
    },
  )

  test('has no say in what the route gives', async () => {
    host.limiter.hooks.addFilter('lazycomments_can_lazy_load', 'test', () => false)
    expect((await fetched(1)).json.html).toContain('Voice 20.')
  })
})

describe('lazycomments_rendered_html', () => {
  test('is given the markup and the post itself, and gives what goes to the browser, one after the other', async () => {
    const given: unknown[][] = []
    const { hooks } = host.limiter
    hooks.addFilter('lazycomments_rendered_html', 'late', async (html) => `${html}<!-- late -->`, 20)
    hooks.addFilter('lazycomments_rendered_html', 'early', (html, post) => {
      given.push([html, post])
      return '<p>Changed</p>'
    })
    expect((await fetched(1)).json).toEqual({ html: '<p>Changed</p><!-- late -->' })
    expect(given).toEqual([[expect.stringContaining('Voice 20.'), host.posts.get(1)]])
    expect(given[0]?.[1]).toBe(host.posts.get(1))
  })

  test('is not asked for a post that is missing, not public or locked, nor for comments inline', async () => {
    let calls = 0
    host.limiter.hooks.addFilter('lazycomments_rendered_html', 'test', (html) => {
      calls += 1
      return html
    })
    for (const postId of [4, 5, 999]) await fetched(postId)
    expect(isLazy(await page(BOT))).toEqual(INLINE)
    expect(calls).toBe(0)
  })

  test('that fails makes the call fail, and no markup that it should have changed goes out', async () => {
    host.limiter.hooks.addFilter('lazycomments_rendered_html', 'broken', () => {
      throw new Error('broken')
    })
    const { status, text, headers } = await fetched(1)
    expect([status, text.includes('Voice'), headers['cache-control']]).toEqual([500, false, 'no-store'])
  })
})

describe('lazycomments_default_settings', () => {
  test('is given the eight defaults, and changes what holds where nothing is stored', async () => {
    const given: unknown[] = []
    host.limiter.hooks.addFilter('lazycomments_default_settings', 'test', (defaults) => {
      given.push(defaults)
      return { ...defaults, button_text: 'Show the talk', load_method: 'click' }
    })
    expect(await page()).toMatch(/method="click".*>Show the talk<\/a>/)
    expect(given[0]).toEqual(COMMENT_DEFAULTS)
    await host.comments.settings.set('button_text', 'Stored')
    expect(await page()).toContain('>Stored</a>')
  })
})

describe('access to the cache', () => {
  test('lazycomments_capability is given manage_options; what it returns is what it takes', async () => {
    const given: unknown[][] = []
    host.limiter.hooks.addFilter('lazycomments_capability', 'test', (...args) => {
      given.push(args)
      return 'read'
    })
    expect([await clear('alice'), await clear()]).toEqual([200, 401])
    // Asked before the body is read and again after it; a stranger is refused at once.
    expect(given).toEqual([['manage_options'], ['manage_options'], ['manage_options']])
  })

  test('lazycomments_has_access is given the verdict of the capability that the other filter named', async () => {
    const given: unknown[][] = []
    host.limiter.hooks.addFilter('lazycomments_capability', 'test', () => 'edit_posts')
    host.limiter.hooks.addFilter('lazycomments_has_access', 'test', (...args) => {
      given.push(args)
      return args[0]
    })
    expect([await clear('carol'), await clear('alice')]).toEqual([200, 403])
    expect(given).toEqual([[true], [true], [false]])
  })
})

describe('actions', () => {
  test('lazycomments_init fires once, with the core, which is whole by then', async () => {
    const seen: unknown[][] = []
    const post = { id: 1 }
    const posts = { find: () => post, id: () => 1, url: () => '/1', isPublic: () => true, countComments: () => 1 }
    const limiter = sessmgr({
      host: { ...restHostOf(createRestUsers()), posts, theme: { renderComments: () => '<p>Hello</p>' } },
    })
    limiter.hooks.addAction('lazycomments_init', 'test', async (...args) => {
      seen.push([...args, await (args[0] as LazyComments).render({ url: '/', headers: {} } as never, post)])
    })
    expect(seen).toEqual([])
    await expect.poll(() => seen.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(seen).toEqual([[limiter.comments, '<p>Hello</p>']])
    await limiter.close()
  })

  test('lazycomments_activated and lazycomments_deactivated fire each time, with nothing, and remove nothing', async () => {
    const fired: unknown[][] = []
    for (const name of ['lazycomments_activated', 'lazycomments_deactivated'] as const) {
      host.limiter.hooks.addAction(name, 'test', (...args: unknown[]) => void fired.push([name, ...args]))
    }
    await host.comments.settings.set('button_text', 'Kept')
    await host.comments.cache.set(1, 'kept')
    await host.comments.activate()
    await host.comments.deactivate()
    await host.comments.activate()
    expect(fired).toEqual([['lazycomments_activated'], ['lazycomments_deactivated'], ['lazycomments_activated']])
    expect([await host.comments.settings.get('button_text'), await host.comments.cache.get(1)]).toEqual([
      'Kept',
      'kept',
    ])
  })
})
