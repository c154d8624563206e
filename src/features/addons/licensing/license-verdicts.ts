import type { Clock } from '../../../ground/clock.ts'
import { type Logger, warn } from '../../../ground/logger.ts'
import type { LicenseStore } from './license-store.ts'
import type { LicensingError } from './licensing-error.ts'
import { type Activation, callProvider, type LicensingProvider, type SiteIdentity } from './licensing-provider.ts'

const LEEWAY_MS = 60_000
/** Minimum time between two checks of the same license with a remote provider. */
const PAUSE_MS = 5 * 60_000
/** Minimum time between two saves of the latest time seen. */
const NOTE_MS = 60 * 60_000

/** Checks whether an activation is valid now. */
type LicenseVerdict = (activation: Activation, seenAt: string | undefined) => Promise<boolean>

/**
 * Creates the license check.
 *
 * A local provider is called each time, and if it fails, the license counts as inactive. A remote provider is called in
 * the background. Until its first response, the license counts as active; afterwards, the last response applies.
 */
export function createLicenseVerdicts(parts: {
  provider: LicensingProvider
  licenses: LicenseStore
  site: () => Promise<SiteIdentity>
  clock: Clock
  logger: Logger
}): LicenseVerdict {
  const { provider, licenses, clock, logger } = parts
  const known = new Map<number, { of: string; active: boolean; askedAt: number }>()

  async function ask(activation: Activation, site: SiteIdentity, seenAt: string | undefined): Promise<boolean> {
    const { productId } = activation
    const state = await callProvider(async (signal) =>
      provider.validate?.({ productId, activation, site, seenAt, signal }),
    )
    return state?.active === true
  }

  function warnUnchecked(productId: number, { code, message }: LicensingError): void {
    const details = { provider: provider.name, productId, code, error: message }
    warn(logger, 'license-not-checked', 'A license could not be checked.', details)
  }

  async function askHere(activation: Activation, site: SiteIdentity, seenAt: string | undefined): Promise<boolean> {
    try {
      if (!(await ask(activation, site, seenAt))) return false
    } catch (error) {
      warnUnchecked(activation.productId, error as LicensingError)
      return false
    }
    const now = clock.now()
    // A failure to save the time must not change the result.
    if (now - Date.parse(seenAt ?? '') < NOTE_MS) return true
    await licenses.see(new Date(now).toISOString()).catch(({ message }) => {
      warn(logger, 'license-not-checked', 'The time of a license check could not be saved.', { error: message })
    })
    return true
  }

  function lastWord(activation: Activation, site: SiteIdentity): boolean {
    const { productId, activatedAt: of } = activation
    const last = known.get(productId)
    const active = last?.of === of ? last.active : true
    if (last?.of === of && clock.now() - last.askedAt < PAUSE_MS) return active
    known.set(productId, { of, active, askedAt: clock.now() })
    void ask(activation, site, undefined).then(
      (answer) => known.set(productId, { of, active: answer, askedAt: clock.now() }),
      (error) => warnUnchecked(productId, error),
    )
    return active
  }

  return async (activation, seenAt) => {
    const site = await parts.site()
    // A copy of the database at another URL has no license.
    if (activation.uid !== site.uid) return false
    if (activation.expiresAt !== null && clock.now() > Date.parse(activation.expiresAt) + LEEWAY_MS) return false
    if (!provider.validate) return true
    return provider.local ? askHere(activation, site, seenAt) : lastWord(activation, site)
  }
}
