import assert from 'node:assert/strict'
import type { Activation, LicenseState } from '../../features/addons/licensing.ts'
import {
  activated,
  assertHidden,
  type LicensingCase,
  type LicensingUnderTest,
  refusalOf,
  SITE,
} from './licensing-case.ts'

const INVALID = ['license_invalid'] as const

const activate = ({ provider, products: [productId] }: LicensingUnderTest, key: string) =>
  provider.activate({ productId, key, site: SITE })

/** Requirements on refused licenses. */
export const refusalContract: readonly LicensingCase[] = [
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

/** Requirements on `validate`, if the provider has it. */
export const validationContract: readonly LicensingCase[] = [
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
    'reports the same again, also for a stored copy of the activation',
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
