import { withDeadline } from '../../ground/deadline.ts'
import { helpAt } from '../../ground/help.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireKnown } from '../../ground/option-checks.ts'

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

/**
 * Reports why a license operation or a request for the add-on catalogue failed. Never contains the license key.
 *
 * @example
 * ```ts
 * if (error instanceof LicensingError && error.retryable) showRetry()
 * ```
 */
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
  /** Where docs/troubleshooting.md explains this code: a URL, or a path inside your project. */
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

/** An add-on in a provider's list. */
export interface RawAddon {
  /** Product id, a positive safe integer. */
  readonly id: number
  /** Short name. */
  readonly slug: string
  /** Display name. */
  readonly title: string
  /** Whether the add-on needs a license. */
  readonly is_premium: boolean
  /** URL of a picture, or null if there is none. */
  readonly icon: string | null
  /** URL where the add-on is available, or an empty string. */
  readonly link: string
  /** One or two sentences of plain text. */
  readonly description: string
  /** URL of a page about the add-on, or an empty string. */
  readonly homepage: string
  /** URL of a wide picture, or an empty string. */
  readonly banner: string
  /** URL of a larger wide picture, or an empty string. */
  readonly banner_large: string
  /** The provider's data as JSON, without secrets. */
  readonly raw: unknown
}

/** The site that a license is activated on. */
export interface SiteIdentity {
  /** 32 hex digits that do not reveal the URL. */
  readonly uid: string
  /** Public URL of the site, or an empty string if unknown. */
  readonly url: string
  /** The site's display name, if known. */
  readonly title?: string | undefined
  /** Version of this package. */
  readonly version: string
}

/** A license that is active on a site. Plain JSON. */
export interface Activation {
  /** Product id of the add-on. */
  readonly productId: number
  /** The license key. It never appears in a message or log. */
  readonly key: string
  /** Identity of the site when the license was activated. */
  readonly uid: string
  /** Id of this installation at the provider, or null. */
  readonly installId: string | null
  /** Name of the plan, or null. */
  readonly plan: string | null
  /** Time of activation, in ISO 8601. */
  readonly activatedAt: string
  /** Time of expiry, in ISO 8601; null if the license never expires or the time is unknown. */
  readonly expiresAt: string | null
  /** Data that the provider needs for later calls. Stored like the key. */
  readonly proof?: string | undefined
}

/** The provider's view of an activation. */
export interface LicenseState {
  /** Whether the license is valid on this site now. */
  readonly active: boolean
  /** Why the license is not valid. Set only if `active` is false. */
  readonly reason?: LicensingCode | undefined
  /** Time of expiry, in ISO 8601; null if the license never expires. */
  readonly expiresAt: string | null
  /** Number of sites that the license allows; null if unlimited. */
  readonly quota: number | null
  /** Number of sites that the license is active on; null if unknown. */
  readonly used: number | null
}

/** Parameters of every call about a license. */
export interface LicenseCall {
  /** Product id of the add-on. */
  readonly productId: number
  /** The site that makes the call. */
  readonly site: SiteIdentity
  /** The latest time seen on this site, in ISO 8601. A clock that is far behind it has been turned back. */
  readonly seenAt?: string | undefined
  /** Aborts the call, which then rejects with `provider_unavailable`. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Supplies add-ons and licenses. Providers do not have to cache, encrypt or store anything; sessmgr does that.
 *
 * Methods may reject only with a `LicensingError` whose message and cause contain no key or secret. Use
 * `provider_unavailable` if the call may succeed later, or if its signal was aborted.
 */
export interface LicensingProvider {
  /**
   * Identifies the provider and its catalogue, such as `freemius:1234`: lowercase letters, digits, ".", ":" and "-".
   */
  readonly name: string
  /** Whether all data is on this machine. If so, every listing calls `listAddons`, and every check calls `validate`. */
  readonly local?: boolean | undefined
  /** Lists the add-ons. */
  listAddons(call: {
    /** Whether a user asked for a fresh list. @default false */
    readonly force?: boolean | undefined
    /** Aborts the call, which then rejects with `provider_unavailable`. */
    readonly signal?: AbortSignal | undefined
  }): Promise<readonly RawAddon[]>
  /** Activates a license on a site. If `previous` is an activation on the same site, no additional seat is used. */
  activate(
    call: LicenseCall & { readonly key: string; readonly previous?: Activation | undefined },
  ): Promise<Activation>
  /** Releases the seat. Also resolves if the site no longer has one. */
  deactivate(call: LicenseCall & { readonly activation: Activation }): Promise<void>
  /** Checks whether an activation is still valid. Without this method, it is valid until it expires. */
  validate?(call: LicenseCall & { readonly activation: Activation }): Promise<LicenseState>
}

/** Checks whether a value is a valid product id. */
export function isProductId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** Slightly longer than the providers' own deadline, so that their own error is reported. */
const DEADLINE_MS = 10_250

/**
 * Calls a provider with a deadline.
 *
 * @throws LicensingError `provider_unavailable` after the deadline. An error of another class becomes
 * `provider_bad_response`, and its message is dropped.
 */
export async function callProvider<T>(call: (signal: AbortSignal) => Promise<T>, ms = DEADLINE_MS): Promise<T> {
  const controller = new AbortController()
  try {
    return await withDeadline(
      (async () => call(controller.signal))(),
      ms,
      () => new LicensingError('provider_unavailable'),
    )
  } catch (error) {
    controller.abort()
    if (error instanceof LicensingError) throw error
    const message = 'The licensing provider failed unexpectedly.'
    throw new LicensingError('provider_bad_response', { message })
  }
}

/** The site, for licenses and links. */
export interface SiteOptions {
  /** Public URL, such as `https://example.com`. */
  readonly url: string
  /** The site's display name. @default none */
  readonly title?: string | undefined
}

const METHODS = ['listAddons', 'activate', 'deactivate'] as const
const NAME = /^[a-z][a-z0-9.:-]*$/

/** Checks the `licensing` option. @throws SessmgrError `invalid_option`. */
export function checkProvider(_name: string, licensing: LicensingProvider): void {
  const isProvider = METHODS.every((method) => typeof licensing?.[method] === 'function')
  if (isProvider && NAME.test(licensing.name)) return
  throw invalidOption(
    '"licensing" must be a provider created by offlineLicensing() or freemiusLicensing() from sessmgr/licensing',
  )
}

/** Checks the `site` option. @throws SessmgrError `invalid_option` that names the option. */
export function checkSite(_name: string, site: SiteOptions): void {
  if (typeof site !== 'object' || site === null) throw invalidOption('"site" must be an object: { url, title }')
  requireKnown(site, ['url', 'title'], (name) => `There is no option "site.${name}"`)
  const url = typeof site.url === 'string' && URL.canParse(site.url) ? new URL(site.url) : undefined
  const isPublic = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (!isPublic) throw invalidOption('"site.url" must be the public address of the site, such as https://example.com')
  if (site.title !== undefined && typeof site.title !== 'string') throw invalidOption('"site.title" must be a string')
}
