import { SessmgrError } from '../ground/errors.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { OptionStore } from '../options/option-store.ts'

// The point keeps it apart from the options that add-ons register, whose names have none: nobody can expose it.
const OPTION = 'sessmgr.secret'

/** What signs in the name of a site, and which memory of it that is. */
export interface SiteSeal {
  /** Newest first: the first one signs, all are accepted. */
  readonly secrets: readonly [string, ...string[]]
  /** Names what the store remembers. After the store was wiped, or has lost its options, it is another. */
  readonly registry: string
}

/**
 * Knows the secrets of a site: those that the application was given, newest first, or one that is made once and kept in
 * the store, where every process finds the same. The kept one is made in any case, because it names the registry.
 */
export class SiteSecrets {
  readonly #options: OptionStore
  readonly #given: readonly string[]
  #loading: Promise<SiteSeal> | undefined
  /** The seal, once it was loaded. Nobody else writes it; every request reads it. */
  known: SiteSeal | undefined

  constructor(options: OptionStore, given: readonly string[]) {
    this.#options = options
    this.#given = given
  }

  /** Reads the secrets alone: no store is needed for those that were given. */
  async all(): Promise<readonly string[]> {
    return this.#given.length > 0 ? this.#given : (await this.load()).secrets
  }

  /** Loads the seal, once for everybody who asks meanwhile. */
  async load(): Promise<SiteSeal> {
    if (this.known) return this.known
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  /** Reads the seal again. Resolves true when it is another one than this process knew. */
  async refresh(): Promise<boolean> {
    const before = this.known
    return (await this.#read()) !== before
  }

  /** Forgets what was loaded, after the store was wiped. */
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
    throw new SessmgrError('store_unavailable', 'The secret of the site could not be kept. Try again shortly.')
  }
}
