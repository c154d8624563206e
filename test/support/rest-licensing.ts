import type { Hooks, SessmgrOptions } from '../../src/index.ts'
import { offlineLicensing } from '../../src/licensing.ts'
import { createVendor, OFFLINE_ADDONS } from '../behaviour/addons/offline-vendor.ts'

const vendor = createVendor()

/** The license key of the REST tests, valid for the add-on 1001. */
export const LICENSE_KEY = await vendor.issue(1001)

/** Returns the options of an application with add-ons. */
export const licensingOptions = (): Pick<SessmgrOptions, 'licensing' | 'site'> => ({
  licensing: offlineLicensing({ ...vendor.trust, catalogue: OFFLINE_ADDONS }),
  site: { url: 'https://shop.example.test', title: 'The Shop' },
})

/** Registers the add-ons of the catalogue, as installed add-ons do themselves. */
export function registerAddons(hooks: Hooks): void {
  hooks.addFilter('sessmgr_register_addon', 'test', (addons) => ({
    ...addons,
    ...Object.fromEntries(
      OFFLINE_ADDONS.map(({ id, slug, is_premium }) => [
        id,
        { slug, is_premium, main_file: `${slug}/index.js`, public_key: `pk_${id}` },
      ]),
    ),
  }))
}
