/** What can be wrong with a licence, or with its provider. */
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

/** What the service itself finds wrong, before it asks the provider. */
export type AddonCode =
  | 'addon_not_found'
  | 'addon_not_initialized'
  | 'empty_activation_key'
  | 'invalid_activation_data'
  | 'not_premium'

/** What each code says to people. */
export const SENTENCES: Readonly<Record<LicensingCode | AddonCode, string>> = {
  license_invalid: 'This licence key is not valid.',
  license_expired: 'This licence has expired.',
  license_quota_reached: 'This licence is in use on as many sites as it allows.',
  license_already_active: 'This licence is active on this site already.',
  license_revoked: 'This licence has been revoked.',
  license_wrong_product: 'This licence is for another product.',
  license_site_mismatch: 'This licence is for another site.',
  license_missing: 'The licensing provider knows no such licence.',
  provider_unavailable: 'The licensing provider does not answer. Try again later.',
  provider_rejected: 'The licensing provider refused the request.',
  provider_bad_response: 'The licensing provider gave an answer that makes no sense.',
  addon_not_found: 'There is no such add-on.',
  addon_not_initialized: 'This add-on is not installed here.',
  empty_activation_key: 'Enter a licence key.',
  invalid_activation_data: 'No licence of this add-on is active on this site.',
  not_premium: 'This add-on needs no licence.',
}

const BRAND = Symbol.for('sessmgr.licensing_error')

/** Tells why a licence could not be activated or deactivated, or the catalogue not be had. Never holds the licence key. */
export class LicensingError extends Error {
  /** Always `LicensingError`. */
  override readonly name = 'LicensingError'
  /** Says what is wrong, for programs. It keeps its meaning; the message may change. */
  readonly code: LicensingCode | AddonCode
  /** Status of the provider's HTTP answer; 0 when there was none. */
  readonly httpStatus: number
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  /** The provider's own code, where it gave one. */
  readonly providerCode: string | undefined

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
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Knows its own across the doors of the package, each of which may be loaded with a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
