import assert from 'node:assert/strict'
import type { Activation, LicenseState } from '../features/addons/licensing.ts'
import {
  activated,
  assertHidden,
  type LicensingCase,
  type LicensingUnderTest,
  refusalOf,
  SITE,
} from './licensing-case.ts'
import { registerCase } from './register-case.ts'

/** Options of registerLicensingContract(). */
export interface LicensingContractOptions {
  /** `describe` of your test runner. */
  describe(name: string, body: () => void): unknown
  /** `it` of your test runner. */
  it(name: string, body: () => Promise<void>): unknown
  /** Creates a provider with a new backend. Called once per case. */
  create(): Promise<LicensingUnderTest>
  /** Whether the provider has `validate`. @default true */
  validates?: boolean
}

/**
 * Registers the cases that every licensing provider must pass. Works with any test runner that has `describe` and `it`.
 *
 * @example
 * registerLicensingContract({ describe, it, create: async () => myProviderUnderTest() })
 */
export function registerLicensingContract(options: LicensingContractOptions): void {
  const { describe, it, create, validates = true } = options
  const groups = {
    catalogue: catalogueContract,
    activation: activationContract,
    refusals: refusalContract,
    ...(validates ? { validation: validationContract } : {}),
  }
  for (const [group, cases] of Object.entries(groups)) {
    describe(group, () => {
      for (const [name, body] of cases) registerCase(it, create, name, body)
    })
  }
}

const TEXTS = ['slug', 'title', 'link', 'description', 'homepage', 'banner', 'banner_large'] as const

/** The cases about catalogues. */
const catalogueContract: readonly LicensingCase[] = [
  [
    'has a name for the cache and the log',
    async ({ provider }) => {
      assert.match(provider.name, /^[a-z][a-z0-9.:-]*$/)
    },
  ],
  [
    'lists all add-ons in order',
    async ({ provider, catalogue }) => {
      const addons = await provider.listAddons({})
      const shown = addons.map(({ id, slug, title, is_premium }) => ({ id, slug, title, is_premium }))
      assert.ok(catalogue.length >= 2)
      assert.deepEqual(shown, catalogue)
    },
  ],
  [
    'returns unique ids that are positive safe integers',
    async ({ provider }) => {
      const ids = (await provider.listAddons({})).map(({ id }) => id)
      for (const id of ids) assert.ok(Number.isSafeInteger(id) && id > 0)
      assert.equal(new Set(ids).size, ids.length)
    },
  ],
  [
    'returns all fields as strings, except an icon that may be null',
    async ({ provider }) => {
      for (const addon of await provider.listAddons({})) {
        for (const name of TEXTS) assert.equal(typeof addon[name], 'string', name)
        assert.ok(addon.icon === null || typeof addon.icon === 'string')
      }
    },
  ],
  [
    'marks premium add-ons with true and free ones with false',
    async ({ provider }) => {
      const premium = (await provider.listAddons({})).map(({ is_premium }) => is_premium)
      assert.ok(premium.includes(true) && premium.includes(false))
    },
  ],
  [
    'returns plain JSON, including the data of the backend',
    async ({ provider }) => {
      const addons = await provider.listAddons({})
      assert.deepEqual(JSON.parse(JSON.stringify(addons)), addons)
      for (const { raw } of addons) assert.equal(typeof raw, 'object')
    },
  ],
  [
    'reveals no secret',
    async ({ provider, secrets }) => {
      assertHidden(await provider.listAddons({}), secrets)
    },
  ],
  [
    'returns the same list again, even if the caller has changed an earlier one',
    async ({ provider }) => {
      const first = await provider.listAddons({})
      const copy = structuredClone(first)
      Object.assign(first[0] as object, { title: 'changed' })
      ;(first as unknown[]).length = 1
      assert.deepEqual(await provider.listAddons({}), copy)
    },
  ],
  [
    'returns the same list if a fresh one is requested',
    async ({ provider }) => {
      assert.deepEqual(await provider.listAddons({ force: true }), await provider.listAddons({ force: false }))
    },
  ],
  [
    'handles parallel calls',
    async ({ provider, catalogue }) => {
      const lists = await Promise.all(Array.from({ length: 10 }, () => provider.listAddons({})))
      for (const list of lists) assert.equal(list.length, catalogue.length)
    },
  ],
  [
    'rejects when its signal is aborted',
    async ({ provider }) => {
      await refusalOf(() => provider.listAddons({ signal: AbortSignal.abort() }), ['provider_unavailable'])
    },
  ],
]

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The cases about activation and deactivation. */
const activationContract: readonly LicensingCase[] = [
  [
    'activates a valid key and returns its product, key and site',
    async ({ provider, products: [productId], issue }) => {
      const key = await issue(productId)
      const activation = await provider.activate({ productId, key, site: SITE })
      assert.deepEqual([activation.productId, activation.key, activation.uid], [productId, key, SITE.uid])
    },
  ],
  [
    'returns the time of activation and, if known, of expiry',
    async (test) => {
      const { activatedAt, expiresAt } = await activated(test)
      assert.match(activatedAt, ISO)
      assert.ok(expiresAt === null || ISO.test(expiresAt))
    },
  ],
  [
    'returns the installation and the plan, each as a string or null',
    async (test) => {
      const { installId, plan } = await activated(test)
      for (const value of [installId, plan]) assert.ok(value === null || (typeof value === 'string' && value !== ''))
    },
  ],
  [
    'returns an activation that is plain JSON',
    async (test) => {
      const activation = await activated(test)
      assert.deepEqual(JSON.parse(JSON.stringify(activation)), activation)
    },
  ],
  [
    'includes no secret of the backend in the activation',
    async (test) => {
      assertHidden(await activated(test), test.secrets)
    },
  ],
  [
    'activates a site without a title',
    async ({ provider, products: [productId], issue }) => {
      const { title: _title, ...site } = SITE
      const key = await issue(productId)
      assert.equal((await provider.activate({ productId, key, site })).key, key)
    },
  ],
  [
    'activates again with the previous activation, and keeps the installation',
    async (test) => {
      const previous = await activated(test)
      const { productId, key } = previous
      const again = await test.provider.activate({ productId, key, site: SITE, previous })
      assert.deepEqual([again.key, again.installId, again.plan], [key, previous.installId, previous.plan])
    },
  ],
  [
    'activates a key with a stored copy of the previous activation',
    async (test) => {
      const previous = JSON.parse(JSON.stringify(await activated(test)))
      const key = await test.issue(previous.productId)
      const again = await test.provider.activate({ productId: previous.productId, key, site: SITE, previous })
      assert.deepEqual([again.key, again.installId], [key, previous.installId])
    },
  ],
  [
    'activates licenses of two products concurrently and independently',
    async (test) => {
      const [one, two] = await Promise.all(test.products.map((productId) => activated(test, productId)))
      assert.deepEqual([one?.productId, two?.productId], test.products)
      assert.notEqual(one?.key, two?.key)
    },
  ],
  [
    'deactivates, and returns undefined',
    async (test) => {
      const activation = await activated(test)
      const { productId } = activation
      assert.equal(await test.provider.deactivate({ productId, activation, site: SITE }), undefined)
    },
  ],
  [
    'deactivates with a stored copy of the activation',
    async (test) => {
      const activation = JSON.parse(JSON.stringify(await activated(test)))
      await test.provider.deactivate({ productId: activation.productId, activation, site: SITE })
    },
  ],
  [
    'accepts a second deactivation',
    async (test) => {
      const activation = await activated(test)
      const { productId } = activation
      for (let time = 0; time < 2; time++) await test.provider.deactivate({ productId, activation, site: SITE })
    },
  ],
  [
    'releases the seat, so that the same key can be activated again',
    async (test) => {
      const activation = await activated(test)
      const { productId, key } = activation
      await test.provider.deactivate({ productId, activation, site: SITE })
      assert.equal((await test.provider.activate({ productId, key, site: SITE })).key, key)
    },
  ],
  [
    'rejects when its signal is aborted',
    async (test) => {
      const { provider, products, issue } = test
      const [productId] = products
      const [activation, key] = [await activated(test), await issue(productId)]
      const call = { productId, site: SITE, signal: AbortSignal.abort() }
      await refusalOf(() => provider.activate({ ...call, key }), ['provider_unavailable'])
      await refusalOf(() => provider.deactivate({ ...call, activation }), ['provider_unavailable'])
    },
  ],
]

const INVALID = ['license_invalid'] as const

const activate = ({ provider, products: [productId] }: LicensingUnderTest, key: string) =>
  provider.activate({ productId, key, site: SITE })

/** The cases about refused licenses. */
const refusalContract: readonly LicensingCase[] = [
  ['refuses an empty key', async (test) => void (await refusalOf(() => activate(test, ''), INVALID))],
  [
    'refuses a key that was never issued',
    async (test) => {
      for (const key of ['x', 'sk_nobody_has_issued_this_key', 'a.b.c', '0', 'null', '__proto__']) {
        await refusalOf(() => activate(test, key), INVALID)
      }
    },
  ],
  [
    'refuses a key with one character added, removed or changed',
    async (test) => {
      const key = await test.issue(test.products[0])
      const middle = Math.floor(key.length / 2)
      const other = key[middle] === 'x' ? 'y' : 'x'
      const near = [`${key}x`, key.slice(1), key.slice(0, -1), key.slice(0, middle) + other + key.slice(middle + 1)]
      for (const wrong of near) await refusalOf(() => activate(test, wrong), INVALID)
    },
  ],
  [
    'refuses a key with anything before or after it',
    async (test) => {
      const key = await test.issue(test.products[0])
      for (const wrong of [`"${key}"`, `${key}\u0000`, `${key}\r\nX: 1`, `%20${key}`, `${key}é`]) {
        await refusalOf(() => activate(test, wrong), INVALID)
      }
    },
  ],
  [
    'refuses a key of 100,000 characters',
    async (test) => void (await refusalOf(() => activate(test, 'k'.repeat(100_000)), INVALID)),
  ],
  [
    'refuses a key for another product',
    async (test) => {
      const key = await test.issue(test.products[1])
      await refusalOf(() => activate(test, key), ['license_wrong_product', 'license_invalid'])
    },
  ],
  [
    'refuses each of the given keys with its code',
    async (test) => {
      const refused = Object.values(test.refused)
      assert.ok(refused.some(({ code }) => code === 'license_expired'))
      for (const { key, code } of refused) await refusalOf(() => activate(test, key), [code])
    },
  ],
  [
    'reports no refusal as retryable',
    async (test) => {
      for (const { key } of [...Object.values(test.refused), { key: 'nonsense' }]) {
        const { retryable, httpStatus, name } = await refusalOf(() => activate(test, key))
        assert.deepEqual([retryable, Number.isInteger(httpStatus), name], [false, true, 'LicensingError'])
      }
    },
  ],
  [
    'describes the problem in a sentence',
    async (test) => {
      const { message } = await refusalOf(() => activate(test, 'nonsense'))
      assert.match(message, /^[A-Z].*\.$/s)
    },
  ],
  [
    'reveals neither a key nor a secret in an error',
    async (test) => {
      const canary = 'sk_canary_that_must_not_be_seen'
      for (const key of [canary, ...Object.values(test.refused).map((refused) => refused.key)]) {
        assertHidden(await refusalOf(() => activate(test, key)), [key, ...test.secrets])
      }
    },
  ],
  [
    'leaves an activation unchanged if another key is refused',
    async (test) => {
      const activation = await activated(test)
      const { productId, key } = activation
      await refusalOf(() => test.provider.activate({ productId, key: 'nonsense', site: SITE, previous: activation }))
      const again = await test.provider.activate({ productId, key, site: SITE, previous: activation })
      assert.equal(again.installId, activation.installId)
    },
  ],
]

function validate({ provider }: LicensingUnderTest, activation: Activation, more = {}): Promise<LicenseState> {
  const { productId } = activation
  assert.ok(provider.validate, 'the provider has no validate(): pass validates: false')
  return provider.validate({ productId, activation, site: SITE, ...more })
}

/** The cases about `validate`, if the provider has it. */
const validationContract: readonly LicensingCase[] = [
  [
    'reports a valid activation as active, with valid numbers and times',
    async (test) => {
      const { active, reason, quota, used, expiresAt } = await validate(test, await activated(test))
      assert.deepEqual([active, reason], [true, undefined])
      for (const number of [quota, used]) assert.ok(number === null || Number.isInteger(number))
      assert.ok(expiresAt === null || !Number.isNaN(Date.parse(expiresAt)))
    },
  ],
  [
    'reports the same again, even for a stored copy of the activation',
    async (test) => {
      const activation = JSON.parse(JSON.stringify(await activated(test)))
      for (let time = 0; time < 3; time++) assert.equal((await validate(test, activation)).active, true)
    },
  ],
  [
    'reports a revoked license as inactive, with the reason',
    async (test) => {
      const activation = await activated(test)
      await test.revoke(activation.key)
      const { active, reason } = await validate(test, activation)
      assert.deepEqual([active, reason], [false, 'license_revoked'])
    },
  ],
  [
    'reports an activation with a changed key or another product as inactive, without revealing a key',
    async (test) => {
      const activation = await activated(test)
      const { key: other } = await activated(test, test.products[1])
      for (const key of ['sk_nonsense_key', `${activation.key}x`, other]) {
        const state = await validate(test, { ...activation, key })
        assert.equal(state.active, false)
        assert.equal(typeof state.reason, 'string')
        assertHidden(state, [key, activation.key])
      }
    },
  ],
  [
    'rejects when its signal is aborted',
    async (test) => {
      const activation = await activated(test)
      await refusalOf(() => validate(test, activation, { signal: AbortSignal.abort() }), ['provider_unavailable'])
    },
  ],
]
