import assert from 'node:assert/strict'
import type { Activation, LicenseState } from '../../features/addons/licensing/licensing-provider.ts'
import {
  activated,
  assertHidden,
  type LicensingCase,
  type LicensingUnderTest,
  refusalOf,
  SITE,
} from './licensing-case.ts'

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
