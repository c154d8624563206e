import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { memoryStore, SessmgrError, type SessmgrStore } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { type CountingTheme, countingTheme } from '../../support/block-theme.ts'
import { type CommentsHost, startCommentsHost } from '../../support/comments-host.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { startRedis } from '../../support/redis-server.ts'

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

test.each<[string, () => Promise<never>]>([
  ['refuses', () => Promise.reject(new SessmgrError('store_unavailable', 'The store is down.'))],
  ['never answers', () => new Promise<never>(() => {})],
])('comments are rendered without a cache that %s, and the operator reads of it', async (_name, call) => {
  const transients = { get: call, set: call, generation: call, advance: call } as never
  await start({ ...memoryStore(), transients }, 400)
  for (let view = 0; view < 2; view++) expect(await fetched()).toContain('Voice 20.')
  expect(theme.parsed).toBe(2)
  expect(String(host.logs[0]?.[0])).toContain('could not be cached')
})

test('with Redis killed, route and page give the comments from the first moment on; its cache is used once it is back', async () => {
  const redis = await startRedis()
  const client = await connectRedis(redis.url)
  onTestFinished(async () => {
    client.destroy()
    await redis.stop()
  })
  await start(redisStore({ client, deadlineMs: 1000 }), 1000)
  const before = await fetched()
  await host.comments.settings.set('load_method', 'click')
  expect((await page('/posts/1')).text).toContain('method="click"')
  await redis.kill()
  for (let view = 0; view < 3; view++) expect(await fetched()).toBe(before)
  const lazy = await page('/posts/1')
  expect([lazy.status, lazy.text.includes('method="click"')]).toEqual([200, true])
  const inline = await page('/posts/1?comments=all')
  expect([inline.status, inline.text.includes('Voice 20.')]).toEqual([200, true])
  await redis.restart()
  await expect
    .poll(async () => [await fetched(), await host.comments.cache.get(1).catch(() => false)][1], { timeout: 20_000 })
    .toContain('wp:comments')
  const { parsed } = theme
  await fetched()
  expect(theme.parsed).toBe(parsed)
})
