import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { offlineLicensing } from '../../../src/licensing.ts'
import { fakeClock } from '../../../src/testing.ts'
import { deferred } from '../../support/deferred.ts'
import { type AddonsHostOptions, createAddonsHost } from './addons-host.ts'
import { type FreemiusServer, failure, providerOf, startFreemius } from './freemius-server.ts'
import { createVendor, OFFLINE_ADDONS } from './offline-vendor.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const OPTION = 'sessmgr.licenses'
const SECRET = 'a secret of the site that is long enough'
const vendor = createVendor()

const offline = (more: object = {}) => offlineLicensing({ ...vendor.trust, catalogue: OFFLINE_ADDONS, ...more })
const host = (more: Partial<AddonsHostOptions> = {}) => createAddonsHost({ provider: offline(), ...more })

let key: string
let server: FreemiusServer
beforeEach(async () => {
  key = await vendor.issue(1001)
  server = await startFreemius()
})
afterEach(() => server.close())
const codeOf = (call: Promise<unknown>) => failure(call).then(({ code }) => code)
const freemius = (more: object = {}) => providerOf(server, { timeoutMs: 10_000, ...more })

describe('rule 24: a license', () => {
  it('that is activated is one for another process, too, which can give it back without the add-on', async () => {
    const { addons, store, clock } = host()
    await addons.activate(1001, key)
    const other = host({ store, clock, registered: [] }).addons
    expect((await other.list()).items.map((row) => [row.id, row.is_license_active, row.license_key])).toEqual([
      [1001, true, key],
      [1002, false, ''],
      [1003, false, ''],
    ])
    expect(await Promise.all([1001, 1002, 9].map(other.isLicensed))).toEqual([true, false, false])
    const row = { id: 1001, is_active: false, is_license_active: false, license_key: '' }
    expect(await other.deactivate(1001)).toMatchObject(row)
    expect(await addons.isLicensed(1001)).toBe(false)
    expect((await store.options.get(OPTION))?.value).toEqual({ licenses: {} })
  })

  it('is not one on another address, such as that of a copy for tests', async () => {
    const { store, clock, addons } = host({ url: 'https://shop.example.test/' })
    await addons.activate(1001, key)
    expect(await host({ store, clock, url: 'http://shop.example.test' }).addons.isLicensed(1001)).toBe(true)
    const copy = host({ store, clock, url: 'https://staging.example.test' }).addons
    expect(await copy.isLicensed(1001)).toBe(false)
    expect((await copy.list()).items[0]).toMatchObject({ is_license_active: false, license_key: key })
    expect(await codeOf(copy.deactivate(1001))).toBe('invalid_activation_data')
    expect(await addons.isLicensed(1001)).toBe(true)
    expect(await copy.activate(1001, key)).toMatchObject({ is_license_active: true })
  })

  it('is none any more once it has expired or was revoked, or while that cannot be told', async () => {
    const clock = fakeClock()
    let list = await vendor.revoke([])
    const { addons, logs } = host({ clock, provider: offline({ clock, revocations: () => list }) })
    const short = await vendor.issue(1001, { expiresAt: new Date(clock.now() + DAY) })
    await addons.activate(1001, short)
    clock.advance(DAY)
    expect(await addons.isLicensed(1001)).toBe(true)
    clock.advance(2 * MINUTE)
    expect(await addons.isLicensed(1001)).toBe(false)
    expect((await addons.list()).items[0]).toMatchObject({ is_license_active: false, license_key: short })
    expect(await addons.activate(1001, key)).toMatchObject({ is_license_active: true, license_key: key })
    list = await vendor.revoke([key])
    expect(await addons.isLicensed(1001)).toBe(false)
    list = await vendor.revoke([])
    expect(await addons.isLicensed(1001)).toBe(true)
    list = 'nonsense'
    expect([await addons.isLicensed(1001), logs.length]).toEqual([false, 1])
  })

  it('is not revived by a clock that is turned back, in any process', async () => {
    const clock = fakeClock()
    const { store, addons } = host({ clock, provider: offline({ clock }) })
    const short = await vendor.issue(1001, { expiresAt: new Date(clock.now() + 10 * DAY) })
    await addons.activate(1001, short)
    await addons.activate(1002, await vendor.issue(1002))
    clock.advance(11 * DAY)
    expect([await addons.isLicensed(1001), await addons.isLicensed(1002)]).toEqual([false, true])
    clock.advance(-6 * DAY)
    const restarted = host({ store, clock, provider: offline({ clock }) }).addons
    expect([await restarted.isLicensed(1001), await restarted.isLicensed(1002)]).toEqual([false, false])
    expect(await codeOf(restarted.activate(1001, short))).toBe('license_invalid')
    // The way out for a site whose clock was wrong for a while: give everything back, and begin anew.
    for (const id of [1001, 1002]) await restarted.deactivate(id)
    const again = host({ store, clock, provider: offline({ clock }) }).addons
    const fresh = await vendor.issue(1002, { issuedAt: new Date(clock.now()) })
    expect(await again.activate(1002, fresh)).toMatchObject({ is_license_active: true })
  })
})

describe('a failure', () => {
  it('of the store gives the seat back that was taken', async () => {
    const { addons, store } = host({ provider: freemius() })
    const taken = server.issue(1001)
    const swap = store.options.swap.bind(store.options)
    store.options.swap = (name, ...more) => (name === OPTION ? Promise.reject(new Error('full')) : swap(name, ...more))
    await expect(addons.activate(1001, taken)).rejects.toThrow('full')
    expect(server.licenses.get(taken)?.installs.size).toBe(0)
    store.options.swap = swap
    expect(await addons.activate(1001, taken)).toMatchObject({ is_license_active: true })
  })

  it('of a provider that gives an activation of the wrong shape stores nothing', async () => {
    const { addons, store } = host({ provider: { ...offline(), activate: async () => ({ key: 'x' }) as never } })
    expect(await codeOf(addons.activate(1001, 'x'))).toBe('provider_bad_response')
    expect(await store.options.get(OPTION)).toBeUndefined()
  })
})

describe('at once', () => {
  it('activations of several add-ons all stay, from several processes too', async () => {
    const one = host()
    const hosts = [one, host({ store: one.store, clock: one.clock })]
    const other = await vendor.issue(1002)
    await Promise.all(hosts.flatMap(({ addons }) => [addons.activate(1001, key), addons.activate(1002, other)]))
    for (const { addons } of hosts) {
      expect([await addons.isLicensed(1001), await addons.isLicensed(1002)]).toEqual([true, true])
    }
  })

  it('what is done to one license is done in turn: ten activations take one seat', async () => {
    const { addons } = host({ provider: freemius() })
    const one = server.issue(1001, { quota: 1 })
    const rows = await Promise.all(Array.from({ length: 10 }, () => addons.activate(1001, one)))
    expect(new Set(rows.map(({ license_key }) => license_key))).toEqual(new Set([one]))
    const sent = server.requests.flatMap(({ body }) => (body ? [body.install_id] : []))
    expect(sent).toHaveLength(10)
    expect([sent[0], new Set(sent.slice(1)).size]).toEqual([undefined, 1])
  })
})

it('a provider elsewhere is not waited for: what it said last holds, also while it is down, for five minutes', async () => {
  const { addons, clock, logs } = host({ provider: freemius({ validate: true }) })
  const license = server.issue(1001)
  await addons.activate(1001, license)
  const checks = () => server.requests.filter(({ url }) => url.includes('license.json')).length
  await expect.poll(checks).toBe(1)
  const gate = deferred<void>()
  server.requests.length = 0
  server.fault = (_request, response) => response.writeHead(429).end()
  clock.advance(5 * MINUTE)
  expect(await addons.isLicensed(1001)).toBe(true)
  await expect.poll(() => logs.length).toBe(1)
  expect(logs[0]).toEqual([
    expect.stringMatching(/^A license could not be checked\./),
    { provider: 'freemius:99', productId: 1001, code: 'provider_unavailable', error: expect.any(String) },
  ])
  expect([await addons.isLicensed(1001), checks()]).toEqual([true, 1])
  server.fault = () => gate.promise.then(() => false)
  clock.advance(5 * MINUTE)
  Object.assign(server.licenses.get(license) ?? {}, { is_cancelled: true })
  for (let call = 0; call < 20; call++) expect(await addons.isLicensed(1001)).toBe(true)
  gate.resolve()
  await expect.poll(() => addons.isLicensed(1001)).toBe(false)
  expect(checks()).toBe(2)
})

describe('what is stored', () => {
  const stored = async ({ options }: { options: { get(name: string): Promise<unknown> } }) =>
    JSON.stringify(await options.get(OPTION))

  it('is encrypted otherwise each time, and is of no use for another add-on', async () => {
    const { addons, store, clock, logs } = host({ secrets: [SECRET] })
    await addons.activate(1001, key)
    const first = await stored(store)
    expect([first.includes(key), /"sealed":"[\w-]{40,}"/.test(first)]).toEqual([false, true])
    await addons.activate(1001, key)
    expect(await stored(store)).not.toBe(first)
    const { value } = (await store.options.get(OPTION)) as { value: { licenses: Record<string, unknown> } }
    await store.options.set(OPTION, { ...value, licenses: { 1002: value.licenses[1001] } })
    const { items } = await host({ store, clock, secrets: [SECRET] }).addons.list()
    expect(items.map(({ license_key }) => license_key)).toEqual(['', '', ''])
    expect(logs).toEqual([])
  })

  it('is read with an old secret and encrypted with the new one, which then suffices; another reads no license', async () => {
    const NEW = 'another secret of the site, long enough'
    const { store, clock, addons } = host()
    await addons.activate(1001, key)
    expect(await stored(store)).toContain(key)
    for (const secrets of [[SECRET], [SECRET], [NEW, SECRET], [NEW]]) {
      const next = host({ store, clock, secrets })
      expect((await next.addons.list()).items[0]).toMatchObject({ is_license_active: true, license_key: key })
      expect(await stored(store)).not.toContain(key)
    }
    const other = host({ store, clock, secrets: [SECRET] })
    for (let call = 0; call < 3; call++) expect(await other.addons.isLicensed(1001)).toBe(false)
    expect(other.logs).toEqual([
      [expect.stringMatching(/^The license of add-on 1001 cannot be read: it was encrypted with another secret\./)],
    ])
    expect(await other.addons.activate(1001, key)).toMatchObject({ is_license_active: true })
  })

  it('of another provider is no license, and its key is never sent to the new one', async () => {
    const { store, clock, addons } = host()
    await addons.activate(1001, key)
    const next = host({ provider: freemius(), store, clock })
    expect(await next.addons.isLicensed(1001)).toBe(false)
    expect(await codeOf(next.addons.deactivate(1001))).toBe('invalid_activation_data')
    expect(JSON.stringify(server.requests)).not.toContain(key)
    expect(next.logs.flat().join()).toContain('it was activated with another licensing provider')
    expect(await addons.isLicensed(1001)).toBe(true)
  })

  it('and damaged is no license, and can be replaced', async () => {
    for (const value of [null, 'x', { licenses: { 1001: 'x' } }, { licenses: { 1001: { secret: { plain: '{' } } } }]) {
      const { addons, store } = host()
      await store.options.set(OPTION, value)
      const none = { is_license_active: false, license_key: '' }
      expect((await addons.list()).items[0], JSON.stringify(value)).toMatchObject(none)
      expect(await addons.activate(1001, key)).toMatchObject({ is_license_active: true })
    }
  })

  it('does not tell the address of the site: another site of the same address is another one', async () => {
    const uids: string[] = []
    for (let site = 0; site < 2; site++) {
      const { addons, store } = host({ provider: freemius() })
      await addons.activate(1001, server.issue(1001))
      uids.push(server.requests.at(-1)?.body.uid)
      expect(await stored(store)).not.toMatch(/secret_key|canary_(user|install|plugin|product)/)
    }
    for (const uid of uids) expect(uid).toMatch(/^[0-9a-f]{32}$/)
    expect(uids[0]).not.toBe(uids[1])
  })
})
