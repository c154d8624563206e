import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { siteSecrets } from '../../src/auth/site-secrets.ts'
import { createHooks } from '../../src/hooks/hooks.ts'
import { memoryStore, type OptionStore } from '../../src/index.ts'
import { consoleLogger } from '../../src/logger.ts'
import { createOptionRegistry } from '../../src/options/option-registry.ts'
import { redisStore } from '../../src/redis.ts'
import { connectRedis } from '../support/redis-client.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

describe('the secrets of a site', () => {
  it('are those that the application gives, in its order; nothing is stored then', async () => {
    const store = memoryStore()
    const writes: unknown[] = []
    store.options.swap = async (...write) => writes.push(write) > 0
    expect(await siteSecrets(store.options, ['newer', 'older'])()).toEqual(['newer', 'older'])
    expect(writes).toEqual([])
  })

  it('are one of 256 bits that is made once, where the application gives none', async () => {
    const { options } = memoryStore()
    const secrets = siteSecrets(options, [])
    const [first] = await secrets()
    expect(first).toMatch(/^[\w-]{43}$/)
    expect(await secrets()).toEqual([first])
    expect(await siteSecrets(memoryStore().options, [])()).not.toEqual([first])
  })

  it('are the same in all processes that start at once, and after a restart', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => connectRedis(redis.url)))
    const stores = clients.map((client) => redisStore({ client }).options)
    const found = await Promise.all(stores.map((options) => siteSecrets(options, [])()))
    expect(new Set(found.flat()).size).toBe(1)
    expect(await siteSecrets(stores[0] as OptionStore, [])()).toEqual(found[0])
    for (const client of clients) client.destroy()
  })

  it('are asked for again after the store could not be reached', async () => {
    const { options } = memoryStore()
    let down = true
    const flaky: OptionStore = {
      get: (name) => options.get(name),
      set: (name, value) => options.set(name, value),
      delete: (name) => options.delete(name),
      swap: (...write) => (down ? Promise.reject(new Error('down')) : options.swap(...write)),
    }
    const secrets = siteSecrets(flaky, [])
    await expect(secrets()).rejects.toThrow('down')
    down = false
    expect(await secrets()).toHaveLength(1)
  })

  it('are never made of what the store does not hold', async () => {
    const { options } = memoryStore()
    const forgetful: OptionStore = { ...options, get: async () => undefined, swap: async () => true }
    await expect(siteSecrets(forgetful, [])()).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  it('cannot be reached as an option that an add-on registers', async () => {
    const { options } = memoryStore()
    const names: string[] = []
    const watched: OptionStore = {
      get: (name) => options.get(name),
      set: (name, value) => options.set(name, value),
      delete: (name) => options.delete(name),
      swap: (name, ...rest) => {
        names.push(name)
        return options.swap(name, ...rest)
      },
    }
    await siteSecrets(watched, [])()
    expect(names).toHaveLength(1)
    const registry = createOptionRegistry(options, createHooks({ logger: consoleLogger, deadlineMs: 1000 }), [])
    const definition = { schema: z.unknown(), default: null, rest: true }
    expect(() => registry.register(names[0] as string, definition)).toThrow(/name of an option/)
  })
})
