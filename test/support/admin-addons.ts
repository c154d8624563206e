import type { Sessmgr } from '../../src/index.ts'
import { type LicensingProvider, offlineLicensing } from '../../src/licensing.ts'
import { createVendor, type OfflineVendor } from '../behaviour/addons/offline-vendor.ts'
import type { AdminLabOptions } from './admin-lab.ts'

const ADDONS = [
  {
    id: 11,
    slug: 'per-role',
    title: 'Limits per role',
    is_premium: true,
    description: 'Gives every role a limit of its own. The highest one of a user’s roles holds.',
    link: 'https://shop.example/11',
    homepage: 'https://shop.example/11/about',
  },
  {
    id: 12,
    slug: 'per-user',
    title: 'Limits per user',
    is_premium: true,
    description: 'Lets single users hold more sessions than others.',
    link: 'https://shop.example/12',
    homepage: 'https://shop.example/12/about',
  },
  {
    id: 13,
    slug: 'export',
    title: 'Session export',
    is_premium: false,
    description: 'Writes who was signed in where into a file.',
    link: '/add-ons/13',
  },
]

/**
 * An application with a vendor's add-ons, of which the first is installed, and a catalogue that can be made to fail.
 */
export function addonsLab(): { vendor: OfflineVendor; trouble: { now?: Error | undefined }; options: AdminLabOptions } {
  const vendor = createVendor()
  const trouble: { now?: Error | undefined } = {}
  const real = offlineLicensing({ catalogue: ADDONS, ...vendor.trust })
  const licensing: LicensingProvider = {
    ...real,
    listAddons: async (call) => {
      if (trouble.now) throw trouble.now
      return real.listAddons(call)
    },
  }
  return { vendor, trouble, options: { sessmgr: { licensing, site: { url: 'https://site.example' } } } }
}

/** Registers the first add-on as installed, as the add-on itself does. */
export function installFirst(limiter: Sessmgr): void {
  limiter.hooks.addFilter('sessmgr_register_addon', 'per-role', (addons) => ({
    ...addons,
    11: { slug: 'per-role', is_premium: true, main_file: 'per-role.js', public_key: 'pk_per_role' },
  }))
}
