import type { LicensingCode } from './licensing-error.ts'

/** An add-on as a provider lists it. */
export interface RawAddon {
  /** Product id: a positive safe integer. */
  readonly id: number
  /** The short name. */
  readonly slug: string
  /** The name that people read. */
  readonly title: string
  /** Whether it needs a licence. */
  readonly is_premium: boolean
  /** Address of a picture; null when there is none. */
  readonly icon: string | null
  /** Address where it can be had; empty when there is none. */
  readonly link: string
  /** A sentence or two, as plain text. */
  readonly description: string
  /** Address where one can read about it; empty when there is none. */
  readonly homepage: string
  /** Address of a wide picture; empty when there is none. */
  readonly banner: string
  /** Address of a larger wide picture; empty when there is none. */
  readonly banner_large: string
  /** What the provider said of it, as JSON, without anything secret. */
  readonly raw: unknown
}

/** The site that a licence is activated on. */
export interface SiteIdentity {
  /** 32 hexadecimal digits that do not tell the address. */
  readonly uid: string
  /** Public address of the site; empty when the application has not told it. */
  readonly url: string
  /** Name of the site that people read, if the application has told it. */
  readonly title?: string | undefined
  /** Version of this package. */
  readonly version: string
}

/** A licence that is active on a site. Plain JSON. */
export interface Activation {
  /** Product id of the add-on. */
  readonly productId: number
  /** The licence key. It goes into no message or log. */
  readonly key: string
  /** Identity of the site at the activation. */
  readonly uid: string
  /** Id of this installation at the provider; null when the provider knows none. */
  readonly installId: string | null
  /** Name of what was bought; null when the provider tells none. */
  readonly plan: string | null
  /** When it was activated, ISO 8601. */
  readonly activatedAt: string
  /** When it expires, ISO 8601; null: never, or not known. */
  readonly expiresAt: string | null
  /** What the provider needs for later calls; kept like the key. */
  readonly proof?: string | undefined
}

/** What a provider says of an activation. */
export interface LicenseState {
  /** Whether the licence is good on this site now. */
  readonly active: boolean
  /** Why it is not; only with `active` false. */
  readonly reason?: LicensingCode | undefined
  /** When it expires, ISO 8601; null: never. */
  readonly expiresAt: string | null
  /** Sites the licence is good for; null: any number. */
  readonly quota: number | null
  /** Sites it is active on; null: not known. */
  readonly used: number | null
}

/** What every call about a licence carries. */
export interface LicenseCall {
  /** Product id of the add-on. */
  readonly productId: number
  /** The site that calls. */
  readonly site: SiteIdentity
  /** The latest time that this site has seen, ISO 8601: a clock that is well behind has been turned back. */
  readonly seenAt?: string | undefined
  /** Ends the call: it then rejects with `provider_unavailable`. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Knows the add-ons that exist and the licences for them. The service caches, encrypts and stores; a provider does not.
 *
 * Every method rejects with a `LicensingError` alone, whose text, code and cause hold neither key nor secret:
 * `provider_unavailable` when the call may succeed later, also when its signal is aborted.
 */
export interface LicensingProvider {
  /** Names the provider and the catalogue it gives, such as `freemius:1234`: lower-case letters, digits, ".", ":" and "-". */
  readonly name: string
  /** Says that every answer comes from this machine: nothing is cached then, and `validate` is asked each time. */
  readonly local?: boolean | undefined
  /** Lists the add-ons. */
  listAddons(call: {
    /** Somebody wants to know what is new. @default false */
    readonly force?: boolean | undefined
    /** Ends the call: it then rejects with `provider_unavailable`. */
    readonly signal?: AbortSignal | undefined
  }): Promise<readonly RawAddon[]>
  /** Activates a licence on a site. With the `previous` activation of the same site it takes no further seat. */
  activate(
    call: LicenseCall & { readonly key: string; readonly previous?: Activation | undefined },
  ): Promise<Activation>
  /** Gives the seat back. Resolves also when the site holds it no more. */
  deactivate(call: LicenseCall & { readonly activation: Activation }): Promise<void>
  /** Tells whether an activation is still good. Without it, it is until it expires. */
  validate?(call: LicenseCall & { readonly activation: Activation }): Promise<LicenseState>
}
