import { describe, expect, it } from 'vitest'
import { freemiusLicensing, offlineLicensing } from '../../src/licensing.ts'
import { type LicensingUnderTest, registerLicensingContract } from '../../src/testing.ts'
import {
  API_TOKEN,
  BACKEND_SECRETS,
  type FreemiusServer,
  PARENT,
  startFreemius,
} from '../behaviour/addons/freemius-server.ts'
import { createVendor, OFFLINE_ADDONS } from '../behaviour/addons/offline-vendor.ts'

/**
 * Registers a group of the contract as one test, which runs all of its cases and tells which of them failed.
 */
function registerGroups(create: () => Promise<LicensingUnderTest>): void {
  const failures: string[] = []
  let cases: (() => Promise<void>)[] = []
  registerLicensingContract({
    create,
    it(name, body) {
      cases.push(() => body().catch(({ message }) => void failures.push(`${name}: ${message}`)))
    },
    describe(group, body) {
      cases = []
      body()
      const own = cases
      it(group, async () => {
        for (const one of own) await one()
        expect(own.length).toBeGreaterThan(2)
        expect(failures.splice(0)).toEqual([])
      })
    },
  })
}

const DAY = 24 * 60 * 60_000
const products = [1001, 1002] as const

describe('offlineLicensing', () => {
  registerGroups(async () => {
    const vendor = createVendor()
    const revoked = [await vendor.issue(1001)]
    const provider = offlineLicensing({
      issuer: vendor.issuer,
      keys: { [vendor.kid]: vendor.publicPem },
      catalogue: OFFLINE_ADDONS,
      revocations: () => vendor.revoke(revoked),
    })
    return {
      provider,
      products,
      catalogue: OFFLINE_ADDONS.map(({ id, slug, title, is_premium }) => ({ id, slug, title, is_premium })),
      issue: (productId) => vendor.issue(productId),
      refused: {
        expired: { key: await vendor.issue(1001, { expiresAt: new Date(Date.now() - DAY) }), code: 'license_expired' },
        revoked: { key: revoked[0] as string, code: 'license_revoked' },
        'for another site': {
          key: await vendor.issue(1001, { sites: ['other.example.test'] }),
          code: 'license_site_mismatch',
        },
        'not yet good': {
          key: await vendor.issue(1001, { notBefore: new Date(Date.now() + DAY) }),
          code: 'license_invalid',
        },
      },
      revoke: async (key) => void revoked.push(key),
      secrets: [vendor.privateJwk.d as string, vendor.privatePem],
      close: async () => {},
    }
  })
})

// Which access it has matters to the list of add-ons only: behaviour/addons/freemius.test.ts shows each way.
describe('freemiusLicensing', () => {
  registerGroups(async () => {
    const server: FreemiusServer = await startFreemius()
    const used = server.issue(1001, { quota: 1, installs: new Map([['f'.repeat(32), 1]]) })
    const catalogue = [1001, 1002, 1003].map((id) => ({
      id,
      slug: `addon-${id}`,
      title: `Add-on ${id}`,
      is_premium: id !== 1003,
    }))
    const { baseUrl } = server
    return {
      provider: freemiusLicensing({ productId: PARENT, baseUrl, validate: true, apiToken: API_TOKEN }),
      products,
      catalogue,
      issue: async (productId) => server.issue(productId),
      refused: {
        expired: { key: server.issue(1001, { expiration: '2026-01-01 00:00:00' }), code: 'license_expired' },
        'used up': { key: used, code: 'license_quota_reached' },
      },
      async revoke(key) {
        Object.assign(server.licenses.get(key) ?? {}, { is_cancelled: true })
      },
      secrets: [...BACKEND_SECRETS, API_TOKEN],
      close: () => server.close(),
    }
  })
})
