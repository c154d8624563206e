/** Describes an installed add-on in the filter `sessmgr_register_addon`. */
export interface AddonRegistration {
  /** Short name, as in its catalogue row. Not empty. */
  readonly slug: string
  /** Whether the add-on needs a license. `activate` uses this value instead of the one in the catalogue. */
  readonly is_premium: boolean
  /** Path of the add-on's main file. Must not be empty; sessmgr does not open it. */
  readonly main_file: string
  /** Public key of the product at the licensing provider. It is not a secret. Must not be empty. */
  readonly public_key: string
}

/** A row of the add-on catalogue. */
export interface AddonRow {
  /** Product id at the licensing provider. */
  readonly id: number
  /** Display name. */
  readonly title: string
  /** URL of a picture, or an empty string. */
  readonly icon: string
  /** URL where the add-on is available, or an empty string. */
  readonly link: string
  /** One or two sentences of plain text. */
  readonly description: string
  /** URL of a page about the add-on, or an empty string. */
  readonly homepage: string
  /** Whether the add-on needs a license. */
  readonly is_premium: boolean
  /** Whether the add-on is registered in this process, by the filter `sessmgr_register_addon`. */
  readonly is_active: boolean
  /** Whether a valid license is active on this site. */
  readonly is_license_active: boolean
  /** The license key that is active on this site, or an empty string. */
  readonly license_key: string
  /** URL of a wide picture, or an empty string. */
  readonly banner: string
  /** URL of a larger wide picture, or an empty string. */
  readonly banner_large: string
}
