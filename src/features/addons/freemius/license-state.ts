import * as z from 'zod/mini'
import { LicensingError } from '../licensing/licensing-error.ts'
import type { LicenseState } from '../licensing/licensing-provider.ts'

const license = z.object({
  plugin_id: z.union([z.string(), z.number()]),
  quota: z.nullable(z.int()),
  activated: z.int(),
  expiration: z.nullable(z.string()),
  is_cancelled: z.boolean(),
  is_block_features: z.boolean(),
})

/**
 * Reads the state of a license. An expired license stays valid if the vendor lets its features continue.
 *
 * @throws LicensingError `provider_bad_response` if the response is not a license.
 */
export function licenseState(productId: number, answer: unknown, now = Date.now()): LicenseState {
  const parsed = license.safeParse(answer)
  if (!parsed.success) throw new LicensingError('provider_bad_response')
  const { plugin_id, quota, activated: used, expiration, is_cancelled, is_block_features } = parsed.data
  // Times are in UTC, without a time zone.
  const time = expiration === null ? null : Date.parse(`${expiration.replace(' ', 'T')}Z`)
  if (Number.isNaN(time)) throw new LicensingError('provider_bad_response')
  const expiresAt = time === null ? null : new Date(time).toISOString()
  const state = { expiresAt, quota, used }
  if (Number(plugin_id) !== productId) return { ...state, active: false, reason: 'license_wrong_product' }
  if (is_cancelled) return { ...state, active: false, reason: 'license_revoked' }
  if (time !== null && time <= now && is_block_features) return { ...state, active: false, reason: 'license_expired' }
  return { ...state, active: true }
}
