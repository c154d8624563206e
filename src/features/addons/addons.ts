import { createHash, randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../../ground/clock.ts'
import { VERSION } from '../../ground/constants.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { type Logger, logFailureOnce } from '../../ground/logger.ts'
import type { AddonRegistration, AddonRow } from '../../hooks/addon-types.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { OptionStore } from '../../options/option-store.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { addonRow, type Catalogue, createCatalogueCache } from './addon-catalogue.ts'
import { createLicenseStore, createLicenseVerdicts } from './license-store.ts'
import {
  callProvider,
  isProductId,
  LicensingError,
  type LicensingProvider,
  type SiteIdentity,
  type SiteOptions,
} from './licensing.ts'

/** The add-on catalogue, with each add-on's state on this site. */
export interface AddonList {
  /** The rows, as the `sessmgr_addons_catalog` filter returned them. */
  readonly items: readonly AddonRow[]
  /** Age of the list in seconds. Set only if calling the provider again failed. */
  readonly age?: number | undefined
}

/** An application's add-ons and their licenses. */
export interface Addons {
  /**
   * Lists the catalogue. It is cached for a day, unless the provider is local.
   *
   * @throws LicensingError if the provider fails and no list is less than seven days old.
   * @throws SessmgrError `store_unavailable`, `hook_failed`, `hook_timeout`.
   */
  list(): Promise<AddonList>
  /**
   * Fetches the catalogue from the provider. If that fails, returns the last list with its age.
   *
   * @throws LicensingError if the provider fails and no list is less than seven days old.
   * @throws SessmgrError `store_unavailable`, `hook_failed`, `hook_timeout`.
   */
  refresh(): Promise<AddonList>
  /**
   * Activates an add-on's license and returns its row. If the provider refuses, nothing changes.
   *
   * @throws LicensingError with a code for the reason.
   * @throws SessmgrError `store_unavailable`, `hook_failed`, `hook_timeout`.
   */
  activate(productId: number, key: string): Promise<AddonRow>
  /**
   * Deactivates an add-on's license, so that another site can use it, and returns its row. If the provider refuses,
   * nothing changes.
   *
   * @throws LicensingError with a code for the reason.
   * @throws SessmgrError `store_unavailable`, `hook_failed`, `hook_timeout`.
   */
  deactivate(productId: number): Promise<AddonRow>
  /**
   * Checks whether an add-on's license is active. Never waits for a remote provider.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  isLicensed(productId: number): Promise<boolean>
}

interface AddonsParts {
  readonly provider: LicensingProvider
  readonly hooks: Hooks
  readonly options: OptionStore
  readonly transients: TransientStore
  /** Secrets that encrypt stored license keys, newest first. */
  readonly secrets: readonly string[]
  readonly site: SiteOptions | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** Creates the public methods for add-ons. */
export function createAddons(parts: AddonsParts): Addons {
  const { provider, hooks, options, clock, logger } = parts
  const registrations = createRegistrations(hooks, logger)
  const catalogue = createCatalogueCache(parts)
  const licenses = createLicenseStore(options, parts.secrets, logger, provider.name)
  const site = siteIdentity(options, parts.site)
  const isGood = createLicenseVerdicts({ provider, licenses, site, clock, logger })
  const queues = new Map<number, Promise<unknown>>()

  async function rowsOf({ addons }: Catalogue): Promise<readonly AddonRow[]> {
    const [registered, { activations, seenAt }] = await Promise.all([registrations(), licenses.read()])
    const shaped = addons.map(async (addon) => {
      const activation = activations.get(addon.id)
      return addonRow({
        ...addon,
        is_active: registered.has(addon.id),
        is_license_active: activation !== undefined && (await isGood(activation, seenAt)),
        license_key: activation?.key,
      })
    })
    const rows = (await Promise.all(shaped)).filter((row) => row !== undefined)
    const raw = addons.map((addon) => addon.raw)
    const items: unknown = await hooks.applyFilters('sessmgr_addons_catalog', rows, raw)
    if (Array.isArray(items)) {
      const good = items.map(addonRow).filter((row) => row !== undefined)
      // A later row replaces an earlier one with the same id.
      return [...new Map(good.map((row) => [row.id, row])).values()]
    }
    throw new SessmgrError('hook_failed', 'A subscriber to "sessmgr_addons_catalog" did not return an array of rows.')
  }

  async function list(force: boolean): Promise<AddonList> {
    const kept = await catalogue.get(force)
    const items = await rowsOf(kept)
    if (kept.triedAt === kept.fetchedAt) return { items }
    return { items, age: Math.max(0, Math.round((clock.now() - kept.fetchedAt) / 1000)) }
  }

  async function find(productId: number): Promise<AddonRow> {
    const row = (await list(false)).items.find(({ id }) => id === productId)
    if (row) return row
    throw new LicensingError('addon_not_found')
  }

  function requireLicensable(row: AddonRow, registration: AddonRegistration | undefined): void {
    if (!(registration ?? row).is_premium) throw new LicensingError('not_premium')
    if (!registration) throw new LicensingError('addon_not_initialized')
  }

  /** Runs tasks on the same license one after the other. */
  function inTurn<T>(productId: number, task: () => Promise<T>): Promise<T> {
    const turn = (queues.get(productId) ?? Promise.resolve()).then(task, task)
    queues.set(productId, turn)
    const done = () => queues.get(productId) === turn && queues.delete(productId)
    turn.then(done, done)
    return turn
  }

  async function activate(productId: number, key: string): Promise<AddonRow> {
    if (key === '') throw new LicensingError('empty_activation_key')
    requireLicensable(await find(productId), (await registrations()).get(productId))
    const [{ activations, seenAt }, identity] = await Promise.all([licenses.read(), site()])
    const kept = activations.get(productId)
    const previous = kept?.uid === identity.uid ? kept : undefined
    const call = { productId, site: identity, seenAt }
    const activation = await callProvider((signal) => provider.activate({ ...call, key, previous, signal }))
    await licenses.save(activation).catch(async (error) => {
      // Release the seat, because this site has no record of it.
      if (!previous)
        await callProvider((signal) => provider.deactivate({ ...call, activation, signal })).catch(() => {})
      throw error
    })
    return find(productId)
  }

  async function deactivate(productId: number): Promise<AddonRow> {
    const row = await find(productId)
    const [{ activations, seenAt }, identity] = await Promise.all([licenses.read(), site()])
    const activation = activations.get(productId)
    if (!activation) requireLicensable(row, (await registrations()).get(productId))
    if (activation?.uid !== identity.uid) throw new LicensingError('invalid_activation_data')
    const call = { productId, site: identity, seenAt }
    await callProvider((signal) => provider.deactivate({ ...call, activation, signal }))
    await licenses.remove(productId)
    return find(productId)
  }

  return {
    list: () => list(false),
    refresh: () => list(true),
    activate: (productId, key) => inTurn(productId, () => activate(productId, key.trim())),
    deactivate: (productId) => inTurn(productId, () => deactivate(productId)),
    async isLicensed(productId) {
      const { activations, seenAt } = await licenses.read()
      const activation = activations.get(productId)
      return activation !== undefined && isGood(activation, seenAt)
    },
  }
}

/** The provider of an application that has set none. */
const NO_ADDONS: LicensingProvider = {
  name: 'none',
  local: true,
  listAddons: async () => [],
  activate: async () => {
    throw new LicensingError('license_invalid')
  },
  deactivate: async () => {},
}

/** Creates the public methods for an application's add-ons. Without a provider, the catalogue is empty. */
export function createAddonsFeature({
  licensing = NO_ADDONS,
  store: { options, transients },
  ...parts
}: Pick<AddonsParts, 'hooks' | 'secrets' | 'site' | 'logger'> & {
  licensing: LicensingProvider | undefined
  store: SessmgrStore
}): Addons {
  return createAddons({ ...parts, provider: licensing, options, transients, clock: systemClock })
}

/** Returns the registered add-ons by product id. */
type Registrations = () => Promise<ReadonlyMap<number, AddonRegistration>>

const FILTER = 'sessmgr_register_addon'
const TEXTS = ['slug', 'main_file', 'public_key'] as const

/** Creates a function that reads the registrations. It skips invalid ones, and logs each once. */
function createRegistrations(hooks: Hooks, logger: Logger): Registrations {
  const refuse = (message: string) => logFailureOnce(logger, message)
  return async () => {
    const given: unknown = await hooks.applyFilters(FILTER, {})
    const registered = new Map<number, AddonRegistration>()
    if (typeof given !== 'object' || given === null) {
      refuse(`No add-ons are registered: subscribers to "${FILTER}" must return an object of add-ons by product id.`)
      return registered
    }
    for (const [id, registration] of Object.entries(given)) {
      const problem = problemOf(id, registration)
      if (problem === undefined) registered.set(Number(id), registration)
      else refuse(`The add-on "${id}" is not registered: ${problem}. Fix it in your subscriber to "${FILTER}".`)
    }
    return registered
  }
}

function problemOf(id: string, registration: unknown): string | undefined {
  if (!isProductId(Number(id)) || String(Number(id)) !== id) return 'its key must be the product id, a positive integer'
  if (typeof registration !== 'object' || registration === null) return 'it must be an object'
  const fields = registration as Record<string, unknown>
  const bad = TEXTS.filter((name) => typeof fields[name] !== 'string' || fields[name] === '')
  if (bad.length > 0) return `${bad.join(', ')} must be non-empty strings`
  return typeof fields.is_premium === 'boolean' ? undefined : 'is_premium must be true or false'
}

// Names of add-on options never contain a dot.
const OPTION = 'sessmgr.site'

/**
 * Returns a function that identifies the site by a hash of its URL, so that a copy at another URL is another site.
 * A random salt from the store keeps the hash from revealing the URL.
 */
function siteIdentity(options: OptionStore, site: SiteOptions | undefined): () => Promise<SiteIdentity> {
  let identity: Promise<SiteIdentity> | undefined
  async function make(): Promise<SiteIdentity> {
    await options.swap(OPTION, undefined, randomBytes(16).toString('hex'))
    const stored = await options.get(OPTION)
    const hash = createHash('sha256').update(JSON.stringify([stored?.value, placeOf(site?.url)]))
    const uid = hash.digest('hex').slice(0, 32)
    return { uid, url: site?.url ?? '', title: site?.title, version: VERSION }
  }
  return () => {
    identity ??= make().catch((error) => {
      identity = undefined
      throw error
    })
    return identity
  }
}

/** Returns the host and path of a URL. A different scheme or a trailing slash does not make it another site. */
function placeOf(url: string | undefined): string {
  if (url === undefined) return ''
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/+$/, '')}`
}
