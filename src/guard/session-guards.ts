import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { GuardOptions } from './guard-context.ts'
import { SessionGuard } from './session-guard.ts'
import type { SessionStores } from './stores/session-stores.ts'
import type { StoreCalls } from './stores/store-calls.ts'

/** A session store of any host, and the guard that its sessions pass. */
export interface GuardedStore {
  /** The store's own methods, past the guard. */
  readonly calls: StoreCalls
  readonly guard: SessionGuard
}

/** The guards of a limiter: one for each session store. */
export class SessionGuards {
  readonly #guarded = new WeakMap<object, GuardedStore>()
  readonly #stores: SessionStores
  readonly #limiter: SessionLimiter
  readonly #options: GuardOptions

  constructor(stores: SessionStores, limiter: SessionLimiter, options: GuardOptions) {
    this.#stores = stores
    this.#limiter = limiter
    this.#options = options
  }

  /**
   * Finds the guard of a store. The caller puts it in front of the store, in place.
   *
   * @param makeCalls Takes the store's own methods. Runs for a store without a guard only.
   * @throws SessmgrError `invalid_option` when another limiter guards the store.
   */
  of<Store extends object>(store: Store, makeCalls: (store: Store, deadlineMs: number) => StoreCalls): GuardedStore {
    const known = this.#guarded.get(store)
    if (known) return known
    const calls = this.#stores.claim(store, makeCalls)
    const guarded = { calls, guard: new SessionGuard(calls, this.#limiter, this.#options) }
    this.#guarded.set(store, guarded)
    return guarded
  }
}
