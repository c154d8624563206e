import type { AddonRow } from '../../hooks/addon-types.ts'

/** Creates a row from unchecked data, or returns undefined if it has no product id. */
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

/** Accepts only web URLs and paths on this site, because pages use them for links and images. */
function address(value: unknown): string {
  return /^(https?:\/\/|\/(?![/\\]))\S*$/i.test(text(value)) ? text(value) : ''
}

/** Checks whether a value is a valid product id. */
export function isProductId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
