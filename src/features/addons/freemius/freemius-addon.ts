import { isProductId } from '../addon-row.ts'
import { LicensingError } from '../licensing/licensing-error.ts'
import type { RawAddon } from '../licensing/licensing-provider.ts'

/** Pages where add-ons are sold and described. */
export interface AddonPages {
  /** URL of the checkout, without the product id. */
  readonly checkoutUrl: string
  /** URL of each add-on's page, by product id. */
  readonly homepages: Readonly<Record<number, string>>
}

/**
 * Reads the add-ons from a response, under `addons` or `plugins`.
 *
 * @throws LicensingError `provider_bad_response` if there is no such list.
 */
export function freemiusAddons(answer: unknown, pages: AddonPages): RawAddon[] {
  const { addons, plugins } = Object(answer) as { addons?: unknown; plugins?: unknown }
  const list = addons ?? plugins
  if (!Array.isArray(list)) throw new LicensingError('provider_bad_response')
  return list.map((addon) => rawAddon(addon, pages))
}

function rawAddon(addon: unknown, { checkoutUrl, homepages }: AddonPages): RawAddon {
  const plugin = Object(addon) as Record<string, unknown>
  const info = Object(plugin.info) as Record<string, unknown>
  const id = typeof plugin.id === 'number' || /^\d+$/.test(text(plugin.id)) ? Number(plugin.id) : undefined
  if (!isProductId(id)) throw new LicensingError('provider_bad_response')
  const link = `${checkoutUrl}${id}`
  return {
    id,
    slug: text(plugin.slug),
    title: text(plugin.title),
    is_premium: plugin.is_pricing_visible === true,
    icon: text(plugin.icon) || null,
    link,
    description: text(info.short_description) || text(info.description),
    homepage: homepages[id] ?? link,
    banner: text(info.card_banner_url),
    banner_large: text(info.banner_url),
    raw: withoutSecrets(addon),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Removes secret keys, which Freemius may include in products. */
function withoutSecrets(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value, (name, part) => (/secret|token/i.test(name) ? undefined : part)))
  } catch {
    // The data is nested more deeply than any valid response.
    throw new LicensingError('provider_bad_response')
  }
}
