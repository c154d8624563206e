/** What an installed add-on says of itself in the filter `sessmgr_register_addon`. */
export interface AddonRegistration {
  /** The short name, as its catalogue row has it. Not empty. */
  readonly slug: string
  /** Whether it needs a licence. For `activate` this counts, and not what the catalogue says. */
  readonly is_premium: boolean
  /** Path of the file that the add-on begins with. Not empty; sessmgr does not open it. */
  readonly main_file: string
  /** The public key by which the licensing provider knows the product: no secret. Not empty. */
  readonly public_key: string
}

/** A row of the add-on catalogue. */
export interface AddonRow {
  /** Product id at the licensing provider. */
  readonly id: number
  /** The name that people read. */
  readonly title: string
  /** Address of a picture; empty when there is none. */
  readonly icon: string
  /** Address where it can be had; empty when there is none. */
  readonly link: string
  /** A sentence or two, as plain text. */
  readonly description: string
  /** Address where one can read about it; empty when there is none. */
  readonly homepage: string
  /** Whether the add-on needs a licence. */
  readonly is_premium: boolean
  /** Whether the add-on is registered here. */
  readonly is_active: boolean
  /** Whether a licence of it is active on this site, and good. */
  readonly is_license_active: boolean
  /** The licence key that is active here; empty when there is none. */
  readonly license_key: string
  /** Address of a wide picture; empty when there is none. */
  readonly banner: string
  /** Address of a larger wide picture; empty when there is none. */
  readonly banner_large: string
}
