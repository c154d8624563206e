import type { Middleware, Sessmgr } from 'sessmgr'
import { type LicensingProvider, offlineLicensing } from 'sessmgr/licensing'
import { demoVendor, issueDemoLicense, ownDemoVendor, product, roleLimits } from '../addon-role-limits/index.ts'
import type { Config } from './config.ts'
import { ROLES } from './host.ts'
import { nightLimit, nightLimitProduct } from './night-limit.ts'
import type { User } from './users.ts'

/** The add-ons of the example, and the licensing of their vendor. */
export interface Addons {
  readonly licensing: LicensingProvider
  /** Adds the add-ons to the limiter, and returns the middleware that serves their script. */
  add(limiter: Sessmgr): Middleware
}

type AddonConfig = Pick<Config, 'addonKeys' | 'sessionSecret'>

/** Creates the add-ons, unless ADDON_ROLE_LIMITS is `none`. */
export function createAddons({ addonKeys, sessionSecret }: AddonConfig): Addons | undefined {
  if (addonKeys === 'none') return undefined
  const vendor = addonKeys ? demoVendor(addonKeys) : ownDemoVendor(sessionSecret)
  return {
    licensing: offlineLicensing({ ...vendor, catalogue: [product, nightLimitProduct] }),
    add(limiter) {
      nightLimit(limiter, Object.values(vendor.keys)[0]?.x ?? '')
      return roleLimits<User>(limiter, { vendor, roles: ROLES, rolesOf: ({ role }) => [role] })
    },
  }
}

/** Returns a license key for trying the Role Limits add-on, or undefined if the vendor is not the example itself. */
export async function trialLicense({ addonKeys, sessionSecret }: AddonConfig): Promise<string | undefined> {
  return addonKeys === undefined ? issueDemoLicense(sessionSecret, product.id) : undefined
}
