import { systemClock } from '../../ground/clock.ts'
import type { Logger } from '../../ground/logger.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { type Addons, createAddons } from './addons.ts'
import type { LicensingProvider } from './licensing/licensing-provider.ts'
import { offlineLicensing } from './offline/offline-licensing.ts'
import type { SiteOptions } from './site-identity.ts'

export interface AddonsFeatureParts {
  readonly licensing: LicensingProvider | undefined
  readonly site: SiteOptions | undefined
  readonly secrets: readonly string[]
  readonly store: SessmgrStore
  readonly hooks: Hooks
  readonly logger: Logger
}

/** Creates an application's add-ons. Without a provider, the catalogue is empty. */
export function createAddonsFeature(parts: AddonsFeatureParts): Addons {
  const { licensing = offlineLicensing(), store, site, secrets, hooks, logger } = parts
  const { options, transients } = store
  const clock = systemClock
  return createAddons({ provider: licensing, hooks, options, transients, secrets, site, clock, logger })
}
