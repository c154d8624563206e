import { systemClock } from '../../ground/clock.ts'
import type { Logger } from '../../ground/logger.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { RestRoute } from '../../routes/rest-route.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { addonLicenseRoutes } from './addon-license-routes.ts'
import { type Addons, createAddons } from './addons.ts'
import { addonsRoutes } from './addons-routes.ts'
import type { LicensingProvider } from './licensing/licensing-provider.ts'
import { offlineLicensing } from './offline/offline-licensing.ts'
import type { SiteOptions } from './site-identity.ts'

/** What the add-ons of an application are made from. */
export interface AddonsServiceParts {
  readonly licensing: LicensingProvider | undefined
  readonly site: SiteOptions | undefined
  readonly secrets: readonly string[]
  readonly store: SessmgrStore
  readonly hooks: Hooks
  readonly logger: Logger
}

/** The add-ons, and the routes that administer them. */
export interface AddonsService {
  readonly addons: Addons
  readonly routes: readonly RestRoute[]
}

/** Creates the add-ons of an application: without a provider, an empty catalogue. */
export function createAddonsService(parts: AddonsServiceParts): AddonsService {
  const { licensing = offlineLicensing(), store, site, secrets, hooks, logger } = parts
  const { options, transients } = store
  const clock = systemClock
  const addons = createAddons({ provider: licensing, hooks, options, transients, secrets, site, clock, logger })
  return { addons, routes: [...addonsRoutes(addons), ...addonLicenseRoutes(addons)] }
}
