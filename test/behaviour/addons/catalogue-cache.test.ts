import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LicensingError, offlineLicensing } from '../../../src/licensing.ts'
import { createAddonsHost } from './addons-host.ts'
import { type FreemiusServer, plugin, providerOf, startFreemius } from './freemius-server.ts'
import { OFFLINE_ADDONS } from './offline-vendor.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let server: FreemiusServer
beforeEach(async () => {
  server = await startFreemius()
})
afterEach(() => server.close())

const provider = () => providerOf(server, { timeoutMs: 10_000 })
const broken = () => {
  server.fault = (_request, response) => response.writeHead(429).end()
}
const asked = () => server.requests.splice(0).length

describe('rule 25: the catalogue', () => {
  it('is asked for once by 100 who want it at once, then not for a day, and not by another process', async () => {
    const { addons, clock, store } = createAddonsHost({ provider: provider() })
    const lists = await Promise.all(Array.from({ length: 100 }, () => addons.list()))
    expect(asked()).toBe(1)
    for (const { items, age } of lists) expect([items.length, age]).toEqual([3, undefined])
    clock.advance(DAY - MINUTE)
    const { items } = await createAddonsHost({ provider: provider(), store, clock }).addons.list()
    expect([await addons.list(), items, asked()]).toEqual([{ items }, lists[0]?.items, 0])
    await createAddonsHost({ provider: providerOf(server, { productId: 98 }), store, clock }).addons.list()
    expect(asked(), 'for another product').toBe(1)
    clock.advance(MINUTE)
    await Promise.all(Array.from({ length: 100 }, () => addons.list()))
    expect(asked()).toBe(1)
  })

  it('rule 43: is asked for once by 100 refreshes at once, and again by every later refresh', async () => {
    const { addons } = createAddonsHost({ provider: provider() })
    await addons.list()
    asked()
    server.plugins.push(plugin(1004))
    const refreshed = await Promise.all(Array.from({ length: 100 }, () => addons.refresh()))
    expect(asked()).toBe(1)
    for (const { items, age } of refreshed) expect([items.length, age]).toEqual([4, undefined])
    server.plugins.push(plugin(1005))
    expect((await addons.refresh()).items).toHaveLength(5)
    expect([(await addons.list()).items.length, asked()]).toEqual([5, 1])
  })

  it('is served with its age for seven days while the provider is down, which is asked every five minutes', async () => {
    const { addons, clock, logs } = createAddonsHost({ provider: provider() })
    const { items } = await addons.list()
    broken()
    clock.advance(MINUTE)
    asked()
    for (let again = 0; again < 2; again++) expect(await addons.refresh()).toEqual({ items, age: 60 })
    expect(asked(), 'refreshes').toBe(2)
    clock.advance(2 * DAY - MINUTE)
    for (let reader = 0; reader < 20; reader++) expect(await addons.list()).toEqual({ items, age: 2 * 24 * 3600 })
    expect(asked(), 'readers').toBe(1)
    server.fault = undefined
    expect((await addons.list()).age).toBeDefined()
    clock.advance(5 * MINUTE)
    for (let reader = 0; reader < 20; reader++) expect(await addons.list()).toEqual({ items })
    expect(asked(), 'readers after five minutes').toBe(1)
    broken()
    clock.advance(7 * DAY - 1)
    expect(await addons.refresh()).toEqual({ items, age: Math.round((7 * DAY - 1) / 1000) })
    const warning = /^The add-on catalogue could not be fetched, so an older copy is served\./
    expect(logs.filter(([message]) => !warning.test(String(message)))).toEqual([])
    clock.advance(1)
    await expect(addons.list()).rejects.toMatchObject({ code: 'provider_unavailable' })
  })

  it('that was never had fails, the next reader asks again, and a failure is shared by those who wait', async () => {
    broken()
    const { addons } = createAddonsHost({ provider: provider() })
    const failed = await Promise.allSettled(Array.from({ length: 10 }, () => addons.list()))
    expect([asked(), ...failed.map(({ status }) => status)]).toEqual([1, ...Array(10).fill('rejected')])
    server.fault = undefined
    expect((await addons.list()).items).toHaveLength(3)
  })

  it('of a provider of somebody else that fails or gives no list fails with a code, and its words go nowhere', async () => {
    const fails = [() => Promise.reject(new Error('secret of the backend')), async () => ({}) as never]
    for (const listAddons of fails) {
      const { addons, logs } = createAddonsHost({ provider: { ...offlineLicensing(), name: 'own', listAddons } })
      const error = await addons.list().catch((reason) => reason)
      expect(error).toBeInstanceOf(LicensingError)
      expect(error.code).toBe('provider_bad_response')
      expect(JSON.stringify([error, error.message, error.stack, logs])).not.toContain('secret of the backend')
    }
  })

  it('that a store cannot keep is served all the same', async () => {
    const { addons, store, logs } = createAddonsHost({ provider: provider() })
    store.transients.set = () => Promise.reject(new Error('full'))
    expect((await addons.list()).items).toHaveLength(3)
    expect(logs).toEqual([[expect.stringMatching(/^The add-on catalogue could not be cached/), { error: 'full' }]])
  })

  it('of this machine is read each time: a change is seen at once, and a broken file shows the last good one', async () => {
    let listAddons = offlineLicensing({ catalogue: OFFLINE_ADDONS }).listAddons
    const local = { ...offlineLicensing(), listAddons: () => listAddons({}) }
    const { addons, clock } = createAddonsHost({ provider: local })
    expect((await addons.list()).items).toHaveLength(3)
    listAddons = offlineLicensing({ catalogue: OFFLINE_ADDONS.slice(1) }).listAddons
    expect((await addons.list()).items).toHaveLength(2)
    listAddons = () => Promise.reject(new LicensingError('provider_bad_response'))
    clock.advance(DAY)
    expect(await addons.list()).toMatchObject({ items: { length: 2 }, age: DAY / 1000 })
  })
})

describe('the filter sessmgr_addons_catalog', () => {
  const BARE = { id: 1, title: '', icon: '', link: '', description: '', homepage: '' }

  it('gets the rows and what the provider said, may change, remove or replace rows, and makes nothing else', async () => {
    const { addons, hooks } = createAddonsHost({ provider: provider() })
    const seen: unknown[] = []
    const strange = [null, 'x', { id: '1' }, { id: -1 }, { title: 'no id' }]
    const javascript = { id: 1, title: 7, link: 'javascript:alert(1)', icon: ' data:x', extra: 1, is_premium: 'yes' }
    hooks.addFilter('sessmgr_addons_catalog', 'test', (items, raw) => {
      seen.push(items, raw)
      const [, second, third] = items
      return [second, third, ...strange, javascript, { ...second, title: 'Again' }] as never
    })
    const { items } = await addons.list()
    expect(items.map(({ id, title }) => [id, title])).toEqual([
      [1002, 'Again'],
      [1003, 'Add-on 1003'],
      [1, ''],
    ])
    const flags = { is_premium: false, is_active: false, is_license_active: false, license_key: '' }
    expect(items[2]).toEqual({ ...BARE, ...flags, banner: '', banner_large: '' })
    const first = { id: 1001, is_premium: true, is_active: true, is_license_active: false, license_key: '' }
    expect(seen).toMatchObject([
      [first, { id: 1002 }, { id: 1003, icon: '', banner: '' }],
      ['1001', '1002', '1003'].map((id) => ({ id, type: 'plugin' })),
    ])
    expect(JSON.stringify(seen)).not.toContain('canary')
  })

  it('that returns no array fails the call', async () => {
    const { addons, hooks } = createAddonsHost({ provider: provider() })
    hooks.addFilter('sessmgr_addons_catalog', 'test', () => ({}) as never)
    await expect(addons.list()).rejects.toMatchObject({ code: 'hook_failed' })
  })
})

it('the filter sessmgr_register_addon: what is wrong is warned of once and left out; the others stay', async () => {
  const good = { slug: 'x', is_premium: true, main_file: 'x.js', public_key: 'pk' }
  const { addons, hooks, logs } = createAddonsHost({ provider: provider(), registered: [] })
  const wrong = { '07': good, 1001: { ...good, main_file: '', public_key: 5 }, 1003: { ...good, is_premium: 'yes' } }
  hooks.addFilter('sessmgr_register_addon', 'bad', (registered) => ({ ...registered, ...wrong, 1002: good }) as never)
  for (let call = 0; call < 2; call++) {
    expect((await addons.list()).items.map(({ is_active }) => is_active)).toEqual([false, true, false])
  }
  const warnings = [/main_file, public_key must be/, /is_premium must be true or false/, /"07".*product id/]
  expect(logs).toEqual(warnings.map((warning) => [expect.stringMatching(warning)]))
})
