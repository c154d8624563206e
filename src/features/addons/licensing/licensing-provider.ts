import { withDeadline } from '../../../ground/deadline.ts'
import { type LicensingCode, LicensingError } from './licensing-error.ts'

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
  /** Time of expiry, in ISO 8601; null if the license never expires or this is unknown. */
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
  /** The latest time seen on this site, in ISO 8601. If the clock is far behind it, someone has turned it back. */
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
  /** Whether all data is on this machine. If so, nothing is cached, and every check calls `validate`. */
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

/** Slightly longer than the providers' own deadline, so that their own error is the one reported. */
const DEADLINE_MS = 10_250

/**
 * Calls a provider with a deadline.
 *
 * @throws LicensingError and no other error: `provider_unavailable` after the deadline, and `provider_bad_response` in
 * place of any other error, whose message is dropped.
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
    const message = 'The licensing provider failed in an unexpected way.'
    throw new LicensingError('provider_bad_response', { message })
  }
}
