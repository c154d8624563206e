import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import { consoleLogger } from '../../../src/ground/logger.ts'
import { createHooks } from '../../../src/hooks/hooks.ts'
import { memoryStore, type OptionStore } from '../../../src/index.ts'
import { createOptionRegistry } from '../../../src/options/option-registry.ts'
import { redisStore } from '../../../src/redis.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

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
    expect(await new SiteSecrets(store.options, ['newer', 'older']).all()).toEqual(['newer', 'older'])
    expect(writes).toEqual([])
  })

  it('are one of 256 bits that is made once, where the application gives none', async () => {
    const { options } = memoryStore()
    const secrets = new SiteSecrets(options, [])
    const [first] = await secrets.all()
    expect(first).toMatch(/^[\w-]{43}$/)
    expect(await secrets.all()).toEqual([first])
    expect(await new SiteSecrets(memoryStore().options, []).all()).not.toEqual([first])
  })

  it('are the same in all processes that start at once, and after a restart', async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => connectRedis(redis.url)))
    const stores = clients.map((client) => redisStore({ client }).options)
    const found = await Promise.all(stores.map((options) => new SiteSecrets(options, []).all()))
    expect(new Set(found.flat()).size).toBe(1)
    expect(await new SiteSecrets(stores[0] as OptionStore, []).all()).toEqual(found[0])
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
    const secrets = new SiteSecrets(flaky, [])
    await expect(secrets.all()).rejects.toThrow('down')
    down = false
    expect(await secrets.all()).toHaveLength(1)
  })

  it('are never made of what the store does not hold', async () => {
    const { options } = memoryStore()
    const forgetful: OptionStore = { ...options, get: async () => undefined, swap: async () => true }
    await expect(new SiteSecrets(forgetful, []).all()).rejects.toMatchObject({ code: 'store_unavailable' })
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
    await new SiteSecrets(watched, []).all()
    expect(names).toHaveLength(1)
    const registry = createOptionRegistry(options, createHooks({ logger: consoleLogger, deadlineMs: 1000 }), [])
    const definition = { schema: z.unknown(), default: null, rest: true }
    expect(() => registry.register(names[0] as string, definition)).toThrow(/name of an option/)
  })
})
