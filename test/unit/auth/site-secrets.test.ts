import { describe, expect, it, vi } from 'vitest'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import { memoryStore } from '../../../src/index.ts'
import type { OptionStore } from '../../../src/options/option-store.ts'

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
    expect(await options.get('sessmgr.secret'), 'under the name of every release').toBeDefined()
    expect(await new SiteSecrets(memoryStore().options, []).all()).not.toEqual([first])
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
    await expect(new SiteSecrets(forgetful, []).all()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'The site secret could not be stored. Try again shortly.',
    })
  })

  it('are read once, however many ask at once and later, until they are forgotten', async () => {
    const { options } = memoryStore()
    const read = vi.spyOn(options, 'get')
    const secrets = new SiteSecrets(options, [])
    const [one, other] = await Promise.all([secrets.load(), secrets.load()])
    expect(one).toBe(other)
    expect(await secrets.load()).toBe(one)
    const reads = read.mock.calls.length
    secrets.forget()
    expect(await secrets.load()).toEqual(one)
    expect(read.mock.calls.length).toBe(reads + 1)
  })

  it('rule 75: are new, with another name of the registry, after the store was wiped', async () => {
    const store = memoryStore()
    const secrets = new SiteSecrets(store.options, [])
    const before = await secrets.load()
    expect(await secrets.refresh()).toBe(before)
    await store.wipe()
    const after = await secrets.refresh()
    expect(await secrets.load()).toBe(after)
    expect(after.secrets).not.toEqual(before.secrets)
    expect(after.registry).not.toBe(before.registry)
  })
})
