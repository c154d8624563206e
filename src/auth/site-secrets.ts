import { SessmgrError } from '../ground/errors.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { OptionStore } from '../options/option-store.ts'

// Names of add-on options never contain a dot, so no route can expose this option.
const OPTION = 'sessmgr.secret'

/** The secrets with which a site signs values, and the id of the registry they belong to. */
export interface SiteSeal {
  /** Newest first. The first one signs; all are accepted. */
  readonly secrets: readonly [string, ...string[]]
  /** Secret that hashes names in the store. Derived from the stored secret, because that one may also sign. */
  readonly names: string
  /** Identifies the data in the store. Changes when the store is wiped or loses its options. */
  readonly registry: string
}

/** The secrets that hash names. */
export interface NameSecrets {
  readonly given: readonly string[]
  readonly stored: string
}

/**
 * Provides a site's secrets: the application's own, newest first, or else a secret in the store that all processes
 * share. The stored secret is created even if unused, because it identifies the registry.
 */
export class SiteSecrets {
  readonly #options: OptionStore
  readonly #given: readonly string[]
  #loading: Promise<SiteSeal> | undefined
  /** The seal, once loaded. Every request reads it; only this class writes it. */
  known: SiteSeal | undefined
  /** Whether this process has wiped the store. */
  wasForgotten = false

  constructor(options: OptionStore, given: readonly string[]) {
    this.#options = options
    this.#given = given
  }

  /** Returns the secrets. Does not touch the store if the application supplied them. */
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

  /** Reloads the seal. Resolves to true if it has changed. */
  async refresh(): Promise<boolean> {
    const before = this.known
    return (await this.#read()) !== before
  }

  /**
   * Returns the secrets that hash names: the application's own, if any, and one that all processes with this store
   * share, whatever their options.
   */
  forNames(): NameSecrets | Promise<NameSecrets> {
    const secretsOf = ({ names }: SiteSeal) => ({ given: this.#given, stored: names })
    return this.known ? secretsOf(this.known) : this.load().then(secretsOf)
  }

  /** Forgets the loaded seal, because the store was wiped. */
  forget(): void {
    this.known = undefined
    this.wasForgotten = true
  }

  async #read(): Promise<SiteSeal> {
    const kept = await this.#keptSecret()
    const derived = (name: string) => nodeCrypto().createHash('sha256').update(`${name} ${kept}`).digest('base64url')
    const registry = derived('registry')
    if (this.known?.registry === registry) return this.known
    const [newest = kept, ...older] = this.#given
    this.known = { registry, names: derived('names'), secrets: [newest, ...older] }
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
    throw new SessmgrError('store_unavailable', 'The site secret could not be stored. Try again shortly.')
  }
}
