import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { BlockCache } from '../../../src/features/comments/lazy-comments.ts'
import { createBlockCache } from '../../../src/features/comments/theme-rendering.ts'
import { memoryStore } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { type FakeClock, fakeClock } from '../../../src/testing.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { connectRedis, type NodeRedis } from '../../support/redis-client.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

const ENTRIES = 500
const DAY_MS = 24 * 60 * 60_000
const WEEK_MS = 7 * DAY_MS
const NEVER_DOWN = {
  patienceMs: 10_000,
  tell(error: Error) {
    throw error
  },
}

let redis: RedisServer
let client: NodeRedis
let clock: FakeClock
let cache: BlockCache
beforeAll(async () => {
  redis = await startRedis()
  client = await connectRedis(redis.url)
})
afterAll(async () => {
  client?.destroy()
  await redis?.stop()
})

const STORES = {
  memory: () => memoryStore({ clock }),
  Redis: () => redisStore({ client }),
}

describe.each(Object.entries(STORES))('the block cache in %s', (_name, createStore) => {
  beforeEach(async () => {
    await client.flushAll()
    clock = fakeClock()
    cache = createBlockCache(createStore().transients)
  })

  test('names one entry for each post', () => {
    expect(cache.key(7)).toBe('lazycomments_block_7')
  })

  test('gives false for a post that has none, and back what was kept, exactly', async () => {
    const block = '<!-- wp:comments {"a":"\\u002d\\u002d ünï 💬"} -->\n<div> </div><!-- /wp:comments -->'
    expect(await cache.get(1)).toBe(false)
    await cache.set(1, block)
    await cache.set(2, '')
    expect([await cache.get(1), await cache.get(2), await cache.get(3)]).toEqual([block, '', false])
    await cache.set(1, 'another')
    expect(await cache.get(1)).toBe('another')
  })

  test('rule 32: flush_all voids every entry, again and again, and what is kept later counts', async () => {
    for (let turn = 0; turn < 3; turn++) {
      for (const postId of [1, 2, 3]) await cache.set(postId, `block ${turn}`)
      expect(await Promise.all([1, 2, 3].map(cache.get))).toEqual(Array(3).fill(`block ${turn}`))
      await cache.flush_all()
      expect(await Promise.all([1, 2, 3].map(cache.get))).toEqual([false, false, false])
    }
    await cache.flush_all()
    await cache.set(1, 'new')
    expect([await cache.get(1), await cache.get(2)]).toEqual(['new', false])
  })

  test('a block that was made while everything was flushed is not kept for the next reader', async () => {
    const made = await cache.remember(
      1,
      async () => {
        await cache.flush_all()
        return 'of the old theme'
      },
      NEVER_DOWN,
    )
    expect(made).toBe('of the old theme')
    expect(await cache.get(1)).toBe(false)
  })

  test('makes a block once, and none for a post without', async () => {
    const calls: number[] = []
    const make = (postId: number, block: string | undefined) => () =>
      cache.remember(
        postId,
        async () => {
          calls.push(postId)
          return block
        },
        NEVER_DOWN,
      )
    expect([await make(1, 'block')(), await make(1, 'later')()]).toEqual(['block', 'block'])
    expect([await make(2, undefined)(), await make(2, undefined)()]).toEqual([undefined, undefined])
    expect(calls).toEqual([1, 2, 2])
  })
})

test('rule 32: an entry lives seven days in memory', async () => {
  clock = fakeClock()
  cache = createBlockCache(memoryStore({ clock }).transients)
  await cache.set(1, 'block')
  clock.advance(WEEK_MS - 1)
  expect(await cache.get(1)).toBe('block')
  clock.advance(1)
  expect(await cache.get(1)).toBe(false)
})

test('rule 32: an entry lives seven days in Redis, and nothing else is left behind for ever but one counter', async () => {
  await client.flushAll()
  cache = createBlockCache(redisStore({ client }).transients)
  await cache.set(1, 'block')
  await cache.flush_all()
  const keys = await client.keys('*')
  const lives = await Promise.all(keys.map(async (key) => [key, await client.pTTL(key)] as const))
  const entries = lives.filter(([key]) => key.endsWith(cache.key(1)))
  expect(entries).toHaveLength(1)
  const [[, life]] = entries as [readonly [string, number]]
  expect(life).toBeLessThanOrEqual(WEEK_MS)
  expect(life).toBeGreaterThan(WEEK_MS - DAY_MS)
  expect(lives.filter(([, left]) => left === -1)).toHaveLength(1)
})

test('rule 32: flush_all takes the same few commands with many entries as with none, and walks through no keys', async () => {
  await client.flushAll()
  cache = createBlockCache(redisStore({ client }).transients)
  await cache.flush_all()
  const few = await commandsOf(() => cache.flush_all())
  await inParallel(ENTRIES, 500, (index) => cache.set(index + 1, `block ${index}`))
  expect(await client.dbSize()).toBeGreaterThanOrEqual(ENTRIES)
  const many = await commandsOf(() => cache.flush_all())
  expect(many).toEqual(few)
  // A reading and a write, each a script with two commands.
  expect(Object.values(many).reduce((sum, calls) => sum + calls, 0)).toBeLessThanOrEqual(6)
  expect(Object.keys(many).filter((name) => /keys|scan|del|unlink|flush/.test(name))).toEqual([])
  expect(new Set(await inParallel(ENTRIES, 500, (index) => cache.get(index + 1)))).toEqual(new Set([false]))
})

/** How often the server ran each command during a task. */
async function commandsOf(task: () => Promise<unknown>): Promise<Record<string, number>> {
  await client.configResetStat()
  await task()
  const lines = (await client.info('commandstats')).matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)
  const counted = [...lines].map(([, name = '', calls]) => [name, Number(calls)] as const)
  return Object.fromEntries(counted.filter(([name]) => !/^(config|info)/.test(name)))
}
