import { systemClock } from '../../ground/clock.ts'
import type { Logger } from '../../ground/logger.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { Feature } from '../../routes/feature.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { addonLicenseRoutes } from './addon-license-routes.ts'
import { type Addons, createAddons } from './addons.ts'
import { addonsRoutes } from './addons-routes.ts'
import type { LicensingProvider } from './licensing/licensing-provider.ts'
import { offlineLicensing } from './offline/offline-licensing.ts'
import type { SiteOptions } from './site-identity.ts'

/** What the add-ons of an application are made from. */
export interface AddonsFeatureParts {
  readonly licensing: LicensingProvider | undefined
  readonly site: SiteOptions | undefined
  readonly secrets: readonly string[]
  readonly store: SessmgrStore
  readonly hooks: Hooks
  readonly logger: Logger
}

/** Creates the add-ons of an application and their routes. Without a provider the catalogue is empty. */
export function createAddonsFeature(parts: AddonsFeatureParts): Feature<Addons> {
  const { licensing = offlineLicensing(), store, site, secrets, hooks, logger } = parts
  const { options, transients } = store
  const clock = systemClock
  const addons = createAddons({ provider: licensing, hooks, options, transients, secrets, site, clock, logger })
  return { routes: [...addonsRoutes(addons), ...addonLicenseRoutes(addons)], member: addons }
}
