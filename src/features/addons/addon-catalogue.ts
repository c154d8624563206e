import type { Clock } from '../../ground/clock.ts'
import { type Logger, logFailure } from '../../ground/logger.ts'
import type { AddonRow } from '../../hooks/addon-types.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import { callProvider, isProductId, LicensingError, type LicensingProvider, type RawAddon } from './licensing.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** How long a list counts as fresh, and how long it is still served if the provider fails. */
const FRESH_MS = DAY_MS
const KEPT_MS = 7 * DAY_MS
/** Pause before a failed provider is called again, unless forced. */
const PAUSE_MS = 5 * MINUTE_MS

/** The provider's list, and when it was fetched. */
export interface Catalogue {
  readonly addons: readonly RawAddon[]
  /** Time of the fetch, in milliseconds since the Unix epoch. */
  readonly fetchedAt: number
  /** Time of the last attempt to fetch, which is later than `fetchedAt` if that attempt failed. */
  readonly triedAt: number
}

/** Caches the catalogue in the store for a day. Concurrent callers share one request. */
interface CatalogueCache {
  /**
   * Returns the list, calling the provider if needed. If that fails, returns the last list for up to seven days.
   *
   * @param force Calls the provider even if the list is fresh, once for concurrent calls.
   * @throws LicensingError if the provider fails and no list is less than seven days old.
   */
  get(force: boolean): Promise<Catalogue>
}

/** Creates the cache of a provider's catalogue. */
export function createCatalogueCache(parts: {
  provider: LicensingProvider
  transients: TransientStore
  clock: Clock
  logger: Logger
}): CatalogueCache {
  const { provider, transients, clock, logger } = parts
  const key = `addons_${provider.name}`
  const underWay = new Map<boolean, Promise<Catalogue>>()

  async function read(): Promise<Catalogue | undefined> {
    const text = await transients.get(key)
    return text === undefined ? undefined : (JSON.parse(text) as Catalogue)
  }

  async function write(catalogue: Catalogue): Promise<void> {
    const life = catalogue.fetchedAt + KEPT_MS - clock.now()
    if (life <= 0) return
    await transients.set(key, JSON.stringify(catalogue), life).catch(({ message }) => {
      const problem = 'The add-on catalogue could not be cached, so it will be fetched again.'
      logFailure(logger, problem, { error: message })
    })
  }

  const within = (time: number, ms: number) => clock.now() >= time && clock.now() - time < ms

  function isGood({ fetchedAt, triedAt }: Catalogue, force: boolean): boolean {
    if (provider.local || force) return false
    return within(triedAt, PAUSE_MS) || within(fetchedAt, FRESH_MS)
  }

  async function load(force: boolean, kept: Catalogue | undefined): Promise<Catalogue> {
    try {
      const addons = await callProvider((signal) => provider.listAddons({ force, signal }))
      if (!Array.isArray(addons)) throw new LicensingError('provider_bad_response')
      const now = clock.now()
      const fetched = { addons, fetchedAt: now, triedAt: now }
      // A local list is read on every call, so write it only if it has changed, or if the stored copy is a day old.
      const isSame = kept !== undefined && JSON.stringify(kept.addons) === JSON.stringify(addons)
      if (!provider.local || !isSame || !within(kept.fetchedAt, FRESH_MS)) await write(fetched)
      return fetched
    } catch (error) {
      if (!kept || !within(kept.fetchedAt, KEPT_MS)) throw error
      const { code, message } = error as LicensingError
      const details = { provider: provider.name, code, error: message }
      const problem = 'The add-on catalogue could not be fetched, so an older copy is served.'
      logFailure(logger, problem, details)
      const tried = { ...kept, triedAt: clock.now() }
      await write(tried)
      return tried
    }
  }

  return {
    async get(force) {
      const kept = await read()
      if (kept && isGood(kept, force)) return kept
      // All callers may share a forced load, but forced callers must not share a normal load, which the provider may
      // respond to from a cache.
      const begun = underWay.get(true) ?? underWay.get(force)
      if (begun) return begun
      const loading = load(force, kept).finally(() => underWay.delete(force))
      underWay.set(force, loading)
      return loading
    },
  }
}

/** Creates a row from unchecked data, or returns undefined if the data has no valid product id. */
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

/** Returns a web URL or a path on this site, or else an empty string, because pages use it for links and images. */
function address(value: unknown): string {
  return /^(https?:\/\/|\/(?![/\\]))\S*$/i.test(text(value)) ? text(value) : ''
}
