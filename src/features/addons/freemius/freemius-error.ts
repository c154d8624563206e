import { type LicensingCode, LicensingError } from '../licensing/licensing-error.ts'

const CODES: Readonly<Record<string, LicensingCode>> = {
  invalid_license_key: 'license_invalid',
  license_expired: 'license_expired',
  license_utilized: 'license_quota_reached',
  license_activated: 'license_already_active',
  license_error: 'provider_rejected',
}

/** Matches a code. Any other value might repeat what was sent. */
const CODE = /^[a-z][a-z0-9_]{0,63}$/

/**
 * Creates the error for a response with an error status.
 *
 * Uses only the code in the response, because the rest repeats the request, including the license key.
 */
export function freemiusError(httpStatus: number, body: unknown): LicensingError {
  const { error } = Object(body) as { error?: { code?: unknown } | null }
  const code = error?.code
  if (typeof code !== 'string') return new LicensingError('provider_bad_response', { httpStatus })
  const providerCode = CODE.test(code) ? code : undefined
  const known = Object.hasOwn(CODES, code) ? CODES[code] : undefined
  const missing = httpStatus === 402 || httpStatus === 404
  return new LicensingError(known ?? (missing ? 'license_missing' : 'provider_rejected'), { httpStatus, providerCode })
}
