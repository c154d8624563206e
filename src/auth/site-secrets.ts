import { SessmgrError } from '../ground/errors.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { OptionStore } from '../options/option-store.ts'

// Names of add-on options never contain a dot, so no route can expose this option.
const OPTION = 'sessmgr.secret'

/** Every session carries the name of the registry, so it is only as long as a random name must be: 96 bits. */
const NAME_LENGTH = 16

/** The secrets of a site, once loaded, and the name of its registry. */
interface KnownSecrets {
  /** Newest first. The first one signs; all are accepted. */
  readonly secrets: readonly [string, ...string[]]
  /** Secret that hashes names in the store. Derived from the stored secret, because that one may also sign. */
  readonly names: string
  /** Random name of the data in the store. A store that was emptied, or has lost its options, gets another one. */
  readonly registry: string
}

/** The secrets that hash names. */
export interface NameSecrets {
  readonly given: readonly string[]
  readonly stored: string
}

/**
 * Provides a site's secrets: the application's own, newest first, or else a secret in the store that all processes
 * share. The stored secret is created even if unused, because the name of the registry derives from it.
 */
export class SiteSecrets {
  readonly #options: OptionStore
  readonly #given: readonly string[]
  #loading: Promise<KnownSecrets> | undefined
  /** The secrets, once loaded. Every request reads them; only this class writes them. */
  known: KnownSecrets | undefined
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

  /** Loads the secrets once. Concurrent calls share one load. */
  async load(): Promise<KnownSecrets> {
    if (this.known) return this.known
    this.#loading ??= this.refresh().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /**
   * Returns the secrets that hash names: the application's own, if any, and one that all processes with this store
   * share, whatever their options.
   */
  forNames(): NameSecrets | Promise<NameSecrets> {
    const secretsOf = ({ names }: KnownSecrets) => ({ given: this.#given, stored: names })
    return this.known ? secretsOf(this.known) : this.load().then(secretsOf)
  }

  /** Forgets the loaded secrets, because the store was wiped. */
  forget(): void {
    this.known = undefined
    this.wasForgotten = true
  }

  /** Loads the secrets again. Resolves to the same object if they have not changed. */
  async refresh(): Promise<KnownSecrets> {
    const kept = await this.#keptSecret()
    const derived = (name: string) => nodeCrypto().createHash('sha256').update(`${name} ${kept}`).digest('base64url')
    const registry = derived('registry').slice(0, NAME_LENGTH)
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
