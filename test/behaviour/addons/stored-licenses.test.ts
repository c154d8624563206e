import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { offlineLicensing } from '../../../src/licensing.ts'
import { type AddonsHostOptions, createAddonsHost } from './addons-host.ts'
import { codeOf, providerOf } from './freemius-client.ts'
import { type FreemiusServer, startFreemius } from './freemius-server.ts'
import { createVendor, OFFLINE_ADDONS } from './offline-vendor.ts'

const SECRET = 'a secret of the site that is long enough'
const OPTION = 'sessmgr.licenses'
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
const freemius = (more: object = {}) => providerOf(server, { timeoutMs: 10_000, ...more })

describe('what is stored', () => {
  const stored = async ({ options }: { options: { get(name: string): Promise<unknown> } }) =>
    JSON.stringify(await options.get(OPTION))

  it('holds no key in plain text where there is a secret, and nothing secret of the provider ever', async () => {
    const { addons, store } = host({ provider: freemius(), secrets: [SECRET] })
    const license = server.issue(1001)
    await addons.activate(1001, license)
    const text = await stored(store)
    expect(text).toMatch(/"sealed":"[\w-]{40,}"/)
    for (const hidden of [license, 'secret_key', 'canary']) expect(text).not.toContain(hidden)
  })

  it('is encrypted otherwise each time, and is of no use for another add-on', async () => {
    const { addons, store, clock, logs } = host({ secrets: [SECRET] })
    await addons.activate(1001, key)
    const first = await stored(store)
    await addons.activate(1001, key)
    expect(await stored(store)).not.toBe(first)
    const { value } = (await store.options.get(OPTION)) as { value: { licenses: Record<string, unknown> } }
    await store.options.set(OPTION, { ...value, licenses: { 1002: value.licenses[1001] } })
    const { items } = await host({ store, clock, secrets: [SECRET] }).addons.list()
    expect(items.map(({ license_key }) => license_key)).toEqual(['', '', ''])
    expect(logs).toEqual([])
  })

  it('is read with an old secret and encrypted with the new one, which then suffices', async () => {
    const NEW = 'another secret of the site, long enough'
    const { store, clock, addons } = host()
    await addons.activate(1001, key)
    expect(await stored(store)).toContain(key)
    for (const secrets of [[SECRET], [SECRET], [NEW, SECRET], [NEW]]) {
      const next = host({ store, clock, secrets })
      expect((await next.addons.list()).items[0]).toMatchObject({ is_license_active: true, license_key: key })
      expect(await stored(store)).not.toContain(key)
    }
  })

  it('and cannot be read is no license; a warning says so once, and it can be activated again', async () => {
    const { store, clock, addons } = host({ secrets: [SECRET] })
    await addons.activate(1001, key)
    const other = host({ store, clock, secrets: ['quite another secret that is long enough'] })
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
    const wrong = [{ licenses: 'x' }, { licenses: { 1001: 'x' } }, { licenses: { 1001: { secret: { plain: '{' } } } }]
    for (const value of [null, 'x', 7, [], ...wrong]) {
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
      const { addons } = host({ provider: freemius() })
      await addons.activate(1001, server.issue(1001))
      uids.push(server.requests.at(-1)?.body.uid)
    }
    for (const uid of uids) expect(uid).toMatch(/^[0-9a-f]{32}$/)
    expect(uids[0]).not.toBe(uids[1])
  })
})
