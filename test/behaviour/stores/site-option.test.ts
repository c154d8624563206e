import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import type { OptionStore } from '../../../src/options/option-store.ts'
import { redisStore } from '../../../src/redis.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { useRedis } from '../../support/use-redis.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

const redis = useRedis()

/** Two processes on one Redis, each with the same add-on, which counts how often its value is built. */
async function twoServices() {
  const clients = [await connectRedis(redis.server.url), await connectRedis(redis.server.url)]
  onTestFinished(() => {
    for (const client of clients) client.destroy()
  })
  const services = clients.map((client) => {
    const store = redisStore({ client })
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

describe('an option over two processes', () => {
  it('is built once for as long as nobody writes it, anew after a write anywhere, and never read old', async () => {
    const { here, there } = await twoServices()
    await there.option.update({ a: 1 })
    await here.option.get()
    const before = here.parsed()
    const read = await Promise.all(Array.from({ length: 20 }, () => here.option.get()))
    expect([here.parsed(), new Set(read).size]).toEqual([before, 1])
    for (let round = 1; round <= 20; round++) {
      const [writer, reader] = round % 2 ? [here, there] : [there, here]
      expect(await writer.option.update({ a: round })).toEqual({ a: round, b: 0 })
      for (const { option } of [reader, writer]) expect(await option.get()).toEqual({ a: round, b: 0 })
    }
  })

  it('rule 22: loses none of many partial updates at once, nor of the settings of the limit', async () => {
    const { here, there } = await twoServices()
    for (let round = 1; round <= 10; round++) {
      await Promise.all([here.option.update({ a: round }), there.option.update({ b: -round })])
      expect(await here.option.get()).toEqual({ a: round, b: -round })
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

  it('is of one option alone, and does not get past the schema', async () => {
    const service = sessmgr()
    const option = service.options.register('one', { schema: z.string(), default: 'kept' })
    service.hooks.addFilter('pre_update_option_two', 'test', () => 'wrong')
    expect(await option.update('right')).toBe('right')
    service.hooks.addFilter('pre_update_option_one', 'test', () => 5)
    await expect(option.update('fine')).rejects.toMatchObject({ code: 'invalid_setting' })
    expect(await option.get()).toBe('right')
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

  function withMode() {
    const service = sessmgr()
    service.hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({
      ...logics,
      by_role: { label: 'By role', desc: 'Each role has a maximum of its own.' },
    }))
    return service
  }

  it('becomes allow unless the filter whitelists it or maps it to another, and the catalogue has that', async () => {
    const { settings, hooks } = withMode()
    const stored = async (requested: object) => {
      const answer = await settings.option.update(requested)
      expect(await settings.get()).toEqual(answer)
      return answer
    }
    const vouch = (logic: string) =>
      hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', (value, _old, requested) =>
        isAsked(requested) ? { ...(value as object), logic } : value,
      )
    await settings.update({ logic: 'block' })
    expect(await stored({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'allow' }))
    vouch('by_role')
    expect(await stored({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'by_role' }))
    expect(await stored({ maximum: 3 }), 'it stays').toEqual(wholeSettings({ maximum: 3, logic: 'by_role' }))
    vouch('logout_oldest')
    expect(await stored({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 3, logic: 'logout_oldest' }))
    vouch('nope')
    expect(await stored({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 3, logic: 'allow' }))
  })
})
