import { helpAt } from '../../../ground/help.ts'

/** Codes of errors that a licensing provider reports. */
export type LicensingCode =
  | 'license_invalid'
  | 'license_expired'
  | 'license_quota_reached'
  | 'license_already_active'
  | 'license_revoked'
  | 'license_wrong_product'
  | 'license_site_mismatch'
  | 'license_missing'
  | 'provider_unavailable'
  | 'provider_rejected'
  | 'provider_bad_response'

/** Codes of errors that are detected before the provider is called. */
export type AddonCode =
  | 'addon_not_found'
  | 'addon_not_initialized'
  | 'empty_activation_key'
  | 'invalid_activation_data'
  | 'not_premium'

/** Message for each code. */
export const SENTENCES: Readonly<Record<LicensingCode | AddonCode, string>> = {
  license_invalid: 'This license key is not valid.',
  license_expired: 'This license has expired.',
  license_quota_reached: 'This license is already active on the maximum number of sites.',
  license_already_active: 'This license is already active on this site.',
  license_revoked: 'This license has been revoked.',
  license_wrong_product: 'This license is for another product.',
  license_site_mismatch: 'This license is for another site.',
  license_missing: 'The licensing provider has no such license.',
  provider_unavailable: 'The licensing provider is not responding. Try again later.',
  provider_rejected: 'The licensing provider refused the request.',
  provider_bad_response: 'The licensing provider sent an invalid response.',
  addon_not_found: 'This add-on does not exist.',
  addon_not_initialized: 'This add-on is not installed on this site.',
  empty_activation_key: 'Enter a license key.',
  invalid_activation_data: 'No license for this add-on is active on this site.',
  not_premium: 'This add-on needs no license.',
}

const BRAND = Symbol.for('sessmgr.licensing_error')

/** Reports why a license operation or a request for the add-on catalogue failed. Never contains the license key. */
export class LicensingError extends Error {
  /** Always `LicensingError`. */
  override readonly name = 'LicensingError'
  /** Identifies the error. Codes are stable; messages may change. */
  readonly code: LicensingCode | AddonCode
  /** HTTP status of the provider's response, or 0 if there was none. */
  readonly httpStatus: number
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  /** The provider's own code, if it sent one. */
  readonly providerCode: string | undefined
  /** Address of the section about this code in docs/troubleshooting.md: a URL, or a path below your project. */
  readonly help: string

  constructor(
    code: LicensingCode | AddonCode,
    {
      message = SENTENCES[code],
      httpStatus = 0,
      providerCode,
    }: { message?: string; httpStatus?: number; providerCode?: string | undefined } = {},
  ) {
    super(message)
    this.code = code
    this.httpStatus = httpStatus
    this.retryable = code === 'provider_unavailable'
    this.providerCode = providerCode
    this.help = helpAt(code)
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Recognizes errors from other copies of this class, because each entry point may load its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
