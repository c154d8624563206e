import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryStore, type SessmgrStore, sessmgr } from '../../../src/index.ts'
import type { OptionStore } from '../../../src/options/option-store.ts'
import { redisStore } from '../../../src/redis.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

let redis: RedisServer
let prefixes = 0
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** Stores that look at the same options: two objects in memory, or two connections to a real Redis. */
const pairs: Record<string, () => Promise<readonly [SessmgrStore, SessmgrStore]>> = {
  'in one process': async () => {
    const store = memoryStore()
    return [store, store]
  },
  'over two processes on Redis': async () => {
    const prefix = `options${++prefixes}:`
    const clients = await Promise.all([connectRedis(redis.url), connectRedis(redis.url)])
    onTestFinished(() => {
      for (const client of clients) client.destroy()
    })
    const [one, two] = clients.map((client) => redisStore({ client, prefix }))
    return [one as SessmgrStore, two as SessmgrStore]
  },
}

/** Two services on the same options, each with the same add-on, which counts how often its value is built. */
async function twoServices(stores: () => Promise<readonly [SessmgrStore, SessmgrStore]>) {
  const services = (await stores()).map((store) => {
    let parsed = 0
    const schema = z.object({ a: z.int(), b: z.int() })
    const counting = {
      safeParse(value: unknown) {
        parsed += 1
        return schema.safeParse(value)
      },
    }
    const service = sessmgr({ store, logger: { warn() {}, error() {} } })
    const option = service.options.register('counted', { schema: counting, default: { a: 0, b: 0 } })
    return { service, option, store, parsed: () => parsed }
  })
  const [here, there] = services
  if (!here || !there) throw new Error('two services are needed')
  return { here, there }
}

describe.each(Object.entries(pairs))('an option %s', (_where, stores) => {
  it('is built once for as long as nobody writes it', async () => {
    const { here, there } = await twoServices(stores)
    await there.option.update({ a: 1 })
    await here.option.get()
    const before = here.parsed()
    const read = await Promise.all(Array.from({ length: 20 }, () => here.option.get()))
    expect(here.parsed()).toBe(before)
    expect(new Set(read).size).toBe(1)
  })

  it('is built anew after a write anywhere, and never read old after one', async () => {
    const { here, there } = await twoServices(stores)
    for (let round = 1; round <= 20; round++) {
      const [writer, reader] = round % 2 ? [here, there] : [there, here]
      expect(await writer.option.update({ a: round })).toEqual({ a: round, b: 0 })
      expect(await reader.option.get()).toEqual({ a: round, b: 0 })
      expect(await writer.option.get()).toEqual({ a: round, b: 0 })
    }
  })

  it('loses none of many partial updates that are made at the same time', async () => {
    const { here, there } = await twoServices(stores)
    for (let round = 1; round <= 10; round++) {
      await Promise.all([here.option.update({ a: round }), there.option.update({ b: -round })])
      expect(await here.option.get()).toEqual({ a: round, b: -round })
    }
  })

  it('rule 22: loses none of the settings of the limit either', async () => {
    const { here, there } = await twoServices(stores)
    for (let round = 1; round <= 5; round++) {
      const logic = round % 2 ? 'block' : 'logout_oldest'
      await Promise.all([here.service.settings.update({ maximum: round }), there.service.settings.update({ logic })])
      expect(await there.service.settings.get()).toEqual(wholeSettings({ maximum: round, logic }))
    }
  })
})

describe('updating an option', () => {
  it('gives up with store_unavailable when others are always faster', async () => {
    const store = memoryStore()
    const { options } = store
    let tries = 0
    const contended: OptionStore = {
      get: (name) => options.get(name),
      set: (name, value) => options.set(name, value),
      delete: (name) => options.delete(name),
      swap: async () => {
        tries += 1
        return false
      },
    }
    const { settings } = sessmgr({ store: { ...store, options: contended } })
    await expect(settings.update({ maximum: 2 })).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(tries).toBe(20)
  })

  it('checks without writing', async () => {
    const store = memoryStore()
    const service = sessmgr({ store })
    const option = service.options.register('title', { schema: z.string(), default: '' })
    await option.check('fine')
    await expect(option.check(5)).rejects.toMatchObject({ code: 'invalid_setting' })
    expect(await store.options.get('title')).toBeUndefined()
  })
})

describe('the filter pre_update_option_<name>', () => {
  it('sees the whole sanitised value, the old one and the request; what it returns is sanitised too', async () => {
    const service = sessmgr()
    const order: unknown[] = []
    const option = service.options.register('pair', {
      schema: z.object({ a: z.int(), b: z.int() }),
      default: { a: 0, b: 0 },
      sanitize(value) {
        order.push(['sanitize', value])
        return value
      },
    })
    service.hooks.addFilter('pre_update_option_pair', 'test', (value, old, requested) => {
      order.push(['filter', value, old, requested])
      return { ...(value as object), b: 7 }
    })
    expect(await option.update({ a: 1 })).toEqual({ a: 1, b: 7 })
    expect(order).toEqual([
      ['sanitize', { a: 1, b: 0 }],
      ['filter', { a: 1, b: 0 }, { a: 0, b: 0 }, { a: 1 }],
      ['sanitize', { a: 1, b: 7 }],
    ])
  })

  it('is of one option alone', async () => {
    const service = sessmgr()
    const option = service.options.register('one', { schema: z.string(), default: '' })
    service.hooks.addFilter('pre_update_option_two', 'test', () => 'wrong')
    expect(await option.update('right')).toBe('right')
  })

  it('does not get past the schema', async () => {
    const service = sessmgr()
    const option = service.options.register('one', { schema: z.string(), default: 'kept' })
    service.hooks.addFilter('pre_update_option_one', 'test', () => 5)
    await expect(option.update('fine')).rejects.toMatchObject({ code: 'invalid_setting' })
    expect(await option.get()).toBe('kept')
  })

  it('rule 12: fails the update when its subscriber fails; nothing is written', async () => {
    const service = sessmgr()
    const option = service.options.register('one', { schema: z.string(), default: 'kept' })
    service.hooks.addFilter('pre_update_option_one', 'broken', () => {
      throw new Error('out of order')
    })
    await expect(option.update('new')).rejects.toMatchObject({ code: 'hook_failed' })
    expect(await option.get()).toBe('kept')
  })
})

describe('rule 22: a logic of an add-on, saved as an option', () => {
  const isAsked = (requested: unknown) => (requested as { logic?: string }).logic === 'by_role'
  const whitelist = (value: unknown, _old: unknown, requested: unknown) =>
    isAsked(requested) ? { ...(value as object), logic: 'by_role' } : value

  function withMode() {
    const service = sessmgr()
    service.hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({
      ...logics,
      by_role: { label: 'By role', desc: 'Each role has a maximum of its own.' },
    }))
    return service
  }

  it('becomes allow when nobody vouches for it', async () => {
    const { settings } = withMode()
    await settings.update({ logic: 'block' })
    expect(await settings.option.update({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'allow' }))
  })

  it('survives when the filter whitelists it', async () => {
    const { settings, hooks } = withMode()
    hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', whitelist)
    expect(await settings.option.update({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'by_role' }))
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 1, logic: 'by_role' }))
    expect(await settings.option.update({ maximum: 3 })).toEqual(wholeSettings({ maximum: 3, logic: 'by_role' }))
  })

  it('is stored as the built-in mode that the filter maps it to', async () => {
    const { settings, hooks } = withMode()
    hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', (value, _old, requested) =>
      isAsked(requested) ? { ...(value as object), logic: 'logout_oldest' } : value,
    )
    expect(await settings.option.update({ logic: 'by_role' })).toEqual(
      wholeSettings({ maximum: 1, logic: 'logout_oldest' }),
    )
  })

  it('becomes allow when the catalogue does not have it, whatever the filter says', async () => {
    const { settings, hooks } = withMode()
    hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', (value) => ({ ...(value as object), logic: 'nope' }))
    expect(await settings.option.update({ maximum: 2 })).toEqual(wholeSettings({ maximum: 2, logic: 'allow' }))
  })
})
