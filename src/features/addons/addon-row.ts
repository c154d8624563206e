import { isProductId } from './product-id.ts'

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

/** Makes a row of whatever a provider or an add-on calls one; undefined without a product id. */
export function addonRow(value: unknown): AddonRow | undefined {
  const row = Object(value) as Record<string, unknown>
  if (!isProductId(row.id)) return undefined
  return {
    id: row.id,
    title: text(row.title),
    icon: address(row.icon),
    link: address(row.link),
    description: text(row.description),
    homepage: address(row.homepage),
    is_premium: row.is_premium === true,
    is_active: row.is_active === true,
    is_license_active: row.is_license_active === true,
    license_key: text(row.license_key),
    banner: address(row.banner),
    banner_large: address(row.banner_large),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A page puts it into links and images: only the web and paths of this site, no script. */
function address(value: unknown): string {
  return /^(https?:\/\/|\/(?![/\\]))\S*$/i.test(text(value)) ? text(value) : ''
}
