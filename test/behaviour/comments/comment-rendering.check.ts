import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { memoryStore, SessmgrError, type SessmgrStore } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { type CountingTheme, countingTheme } from '../../support/block-theme.ts'
import { type CommentsHost, startCommentsHost, type TestPost } from '../../support/comments-host.ts'
import { createGate } from '../../support/gates.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

const READER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36' }

let redis: RedisServer
let client: NodeRedis
let theme: CountingTheme
let host: CommentsHost
beforeAll(async () => {
  redis = await startRedis()
  client = await connectRedis(redis.url)
})
beforeEach(async () => {
  await client.flushAll()
  theme = countingTheme()
})
afterEach(() => host?.close())
afterAll(async () => {
  client?.destroy()
  await redis?.stop()
})

async function start(store: SessmgrStore, deadlineMs = 2000): Promise<void> {
  // Closing the host must not close the client that the tests share.
  host = await startCommentsHost({ store: { ...store, close: async () => {} }, theme, deadlineMs })
}

async function fetched(postId = 1): Promise<string> {
  const { status, text, json } = await host.client.send('GET', `/api/lazycomments/v1/comments?post_id=${postId}`)
  expect([status, text.slice(0, 9)]).toEqual([200, '{"html":"'])
  return json.html
}

const page = (path: string) => host.client.send('GET', path, { headers: READER })

const comment = (post: TestPost, text: string) => host.posts.set(post.id, { ...post, comments: [text] })

describe.each([
  ['memory', () => memoryStore()],
  ['Redis', () => redisStore({ client })],
])('rule 32: with the block cache in %s', (_name, createStore) => {
  beforeEach(() => start(createStore()))

  test('a cold and a warm cache give the same markup, also inline, and the template is read once', async () => {
    const cold = await fetched()
    expect(cold).toContain('Voice 20.')
    expect([await fetched(), await fetched()]).toEqual([cold, cold])
    expect((await page('/posts/1?comments=all')).text).toContain(cold)
    expect(theme.parsed).toBe(1)
    await host.comments.cache.flush_all()
    expect(await fetched()).toBe(cold)
    expect(theme.parsed).toBe(2)
  })

  test('what is kept is the block, and a new comment shows at once', async () => {
    await fetched()
    const kept = () => host.comments.cache.get(1)
    const block = '<!-- wp:comments {"theme":"first"} --><!-- wp:comment-template /--><!-- /wp:comments -->'
    // The response does not wait until the block is stored.
    await expect.poll(kept).toBe(block)
    comment(host.posts.get(1) as TestPost, 'Brand new.')
    expect(await fetched()).toContain('Brand new.')
    expect(theme.parsed).toBe(1)
  })

  test('another theme shows once it is told, not before', async () => {
    await fetched()
    theme.name = 'second'
    expect(await fetched()).toContain('"theme":"first"')
    await host.comments.themeSwitched()
    expect(await fetched()).toContain('"theme":"second"')
    // The response does not wait until the block is stored.
    await expect.poll(() => host.comments.cache.get(1)).toContain('"theme":"second"')
  })

  test('a theme that is switched while its template is read does not stay', async () => {
    const { template } = theme
    const gate = createGate()
    Object.assign(theme, {
      template: async (post: TestPost) => {
        const blocks = await template(post)
        await gate.pass()
        return blocks
      },
    })
    const first = fetched()
    await gate.arrived
    Object.assign(theme, { template, name: 'second' })
    await host.comments.themeSwitched()
    gate.open()
    expect(await first).toContain('"theme":"first"')
    expect(await fetched()).toContain('"theme":"second"')
  })
})

/** A memory store in which each call for a transient does this. */
function storeWith(call: (name: string) => Promise<never>): SessmgrStore {
  const names = ['get', 'set', 'generation', 'advance'] as const
  const transients = Object.fromEntries(names.map((name) => [name, () => call(name)])) as never
  return { ...memoryStore(), transients }
}

test('with the cache switched off no transient is read or written', async () => {
  const calls: string[] = []
  await start(
    storeWith((name) => {
      calls.push(name)
      return Promise.reject(new Error(name))
    }),
  )
  await host.comments.settings.set('cache_enabled', false)
  expect(await fetched()).toBe(await fetched())
  expect([theme.parsed, calls]).toEqual([2, []])
  await host.comments.settings.set('cache_enabled', true)
  await fetched()
  expect(calls).toEqual(['get', 'generation'])
})

describe('with the cache down', () => {
  test.each([
    ['refuses', () => Promise.reject(new SessmgrError('store_unavailable', 'The store is down.'))],
    ['never answers', () => new Promise<never>(() => {})],
  ])('comments are rendered without it when it %s, and the operator reads of it', async (_name, call) => {
    await start(storeWith(call), 400)
    expect(await fetched()).toContain('Voice 20.')
    expect(await fetched()).toContain('Voice 20.')
    expect(theme.parsed).toBe(2)
    expect(String(host.logs[0]?.[0])).toContain('could not be cached')
  })

  test('a block that can be read but not kept is made for each view', async () => {
    const store = memoryStore()
    const transients = Object.assign(Object.create(store.transients), {
      get: (key: string) => store.transients.get(key),
      generation: (group: string) => store.transients.generation(group),
      set: () => Promise.reject(new Error('full')),
    })
    await start({ ...store, transients })
    expect(await fetched()).toBe(await fetched())
    expect(theme.parsed).toBe(2)
    expect(JSON.stringify(host.logs)).toContain('full')
  })
})

describe('with Redis killed', () => {
  let own: RedisServer
  let ownClient: NodeRedis
  beforeEach(async () => {
    own = await startRedis()
    ownClient = await connectRedis(own.url)
    await start(redisStore({ client: ownClient, deadlineMs: 1000 }), 1000)
  })
  afterEach(async () => {
    ownClient.destroy()
    await own.stop()
  })

  test.each(['warm', 'cold'])(
    'the route still gives the comments, from the first moment on; cache %s',
    async (state) => {
      const before = state === 'warm' ? await fetched() : undefined
      await own.kill()
      const during = [await fetched(), await fetched(), await fetched()]
      expect(during.filter((html) => html.includes('Voice 20.'))).toHaveLength(3)
      expect(new Set(during).size).toBe(1)
      if (before !== undefined) expect(during[0]).toBe(before)
    },
  )

  test('the page has its comments inline or the placeholder, as the settings were last known', async () => {
    await host.comments.settings.set('load_method', 'click')
    expect((await page('/posts/1')).text).toContain('method="click"')
    await own.kill()
    const lazy = await page('/posts/1')
    expect([lazy.status, lazy.text.includes('method="click"')]).toEqual([200, true])
    const inline = await page('/posts/1?comments=all')
    expect([inline.status, inline.text.includes('Voice 20.')]).toEqual([200, true])
  })

  test('the cache is used again once Redis is back', async () => {
    await own.kill()
    await fetched()
    await own.restart()
    await expect
      .poll(async () => [await fetched(), await host.comments.cache.get(1).catch(() => false)][1], WAIT)
      .toContain('wp:comments')
    const { parsed } = theme
    await fetched()
    expect(theme.parsed).toBe(parsed)
  })
})

const WAIT = { timeout: 20_000, interval: 100 }

test('a post behind a password shows no comments inline either, until this request has given it', async () => {
  await start(memoryStore())
  const post = host.posts.get(5)
  const shown = (headers: object) => host.comments.render({ url: '/?comments=all', headers } as never, post)
  expect(await shown({})).toBe('')
  expect(await shown({ 'x-password': 'open' })).toContain('Voice 2.')
})

describe('rule 31: the decision of a request', () => {
  test('is made once for script and comments together, and anew for the next request', async () => {
    await start(memoryStore())
    const verdicts: boolean[] = []
    host.limiter.hooks.addFilter('lazycomments_can_lazy_load', 'test', (can) => {
      verdicts.push(can)
      // What would tear script and placeholder apart if it were asked twice.
      return verdicts.length % 2 === 1
    })
    const first = (await page('/posts/1')).text
    expect([first.includes('<script'), first.includes('<lazy-comments'), verdicts]).toEqual([true, true, [true]])
    const second = (await page('/posts/1')).text
    expect([second.includes('<script'), second.includes('<lazy-comments'), verdicts]).toEqual([
      false,
      false,
      [true, true],
    ])
  })

  test('is made for each post apart', async () => {
    await start(memoryStore())
    host.posts.set(2, { id: 2, status: 'published', comments: [] })
    const request = { url: '/', headers: READER } as never
    const html = await Promise.all([1, 2, 1].map((id) => host.comments.render(request, host.posts.get(id))))
    expect(html.map((one) => one.includes('<lazy-comments'))).toEqual([true, false, true])
  })
})
