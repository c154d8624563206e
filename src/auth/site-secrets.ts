import { SessmgrError } from '../ground/errors.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { OptionStore } from '../options/option-store.ts'

// The dot keeps the name apart from options of add-ons, whose names have none: no route can expose it.
const OPTION = 'sessmgr.secret'

/** The secrets that sign for a site, and the registry they belong to. */
export interface SiteSeal {
  /** Newest first: the first one signs, all are accepted. */
  readonly secrets: readonly [string, ...string[]]
  /** Identifies the data in the store. It changes when the store is wiped or loses its options. */
  readonly registry: string
}

/**
 * Returns the secrets of a site: those from the application, newest first, or else one created once in the store, which
 * all processes share. The stored one always exists, because it identifies the registry.
 */
export class SiteSecrets {
  readonly #options: OptionStore
  readonly #given: readonly string[]
  #loading: Promise<SiteSeal> | undefined
  /** The seal, once loaded. Only this class writes it; every request reads it. */
  known: SiteSeal | undefined

  constructor(options: OptionStore, given: readonly string[]) {
    this.#options = options
    this.#given = given
  }

  /** Returns the secrets. Needs no store if the application supplied them. */
  async all(): Promise<readonly string[]> {
    return this.#given.length > 0 ? this.#given : (await this.load()).secrets
  }

  /** Loads the seal. Concurrent calls share one load. */
  async load(): Promise<SiteSeal> {
    if (this.known) return this.known
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Loads the seal again. Resolves to true if it has changed. */
  async refresh(): Promise<boolean> {
    const before = this.known
    return (await this.#read()) !== before
  }

  /** Drops the loaded seal, after the store was wiped. */
  forget(): void {
    this.known = undefined
  }

  async #read(): Promise<SiteSeal> {
    const kept = await this.#keptSecret()
    const registry = nodeCrypto().createHash('sha256').update(`registry ${kept}`).digest('base64url')
    if (this.known?.registry === registry) return this.known
    const [newest = kept, ...older] = this.#given
    this.known = { registry, secrets: [newest, ...older] }
    return this.known
  }

  async #keptSecret(): Promise<string> {
    let stored = await this.#options.get(OPTION)
    if (!stored) {
      await this.#options.swap(OPTION, undefined, nodeCrypto().randomBytes(32).toString('base64url'))
      stored = await this.#options.get(OPTION)
    }
    const secret = stored?.value
    if (typeof secret === 'string' && secret !== '') return secret
    throw new SessmgrError('store_unavailable', 'The secret of the site could not be stored. Try again shortly.')
  }
}
