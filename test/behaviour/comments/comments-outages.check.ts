import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryStore, SessmgrError, type SessmgrStore } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { type CountingTheme, countingTheme } from '../../support/block-theme.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

const READER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36' }

let theme: CountingTheme
let host: CommentsHost
beforeEach(() => {
  theme = countingTheme()
})
afterEach(() => host?.close())

async function start(store: SessmgrStore, deadlineMs = 2000): Promise<void> {
  // Closing the host must not close the client that the tests share.
  host = await startCommentsHost({ store: { ...store, close: async () => {} }, theme, deadlineMs })
}

async function fetched(): Promise<string> {
  const { status, text, json } = await host.client.send('GET', '/api/lazycomments/v1/comments?post_id=1')
  expect([status, text.slice(0, 9)]).toEqual([200, '{"html":"'])
  return json.html
}

const page = (path: string) => host.client.send('GET', path, { headers: READER })

/** A memory store in which each call for a transient does this. */
function storeWith(call: (name: string) => Promise<never>): SessmgrStore {
  const names = ['get', 'set', 'generation', 'advance'] as const
  const transients = Object.fromEntries(names.map((name) => [name, () => call(name)])) as never
  return { ...memoryStore(), transients }
}

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

  test.each(['warm', 'cold'])('the route gives the comments from the first moment on; cache %s', async (state) => {
    const before = state === 'warm' ? await fetched() : undefined
    await own.kill()
    const during = [await fetched(), await fetched(), await fetched()]
    expect(during[0]).toContain('Voice 20.')
    expect(new Set(during).size).toBe(1)
    if (before !== undefined) expect(during[0]).toBe(before)
  })

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
      .poll(async () => [await fetched(), await host.comments.cache.get(1).catch(() => false)][1], { timeout: 20_000 })
      .toContain('wp:comments')
    const { parsed } = theme
    await fetched()
    expect(theme.parsed).toBe(parsed)
  })
})
