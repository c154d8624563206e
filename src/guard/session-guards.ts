import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { GuardOptions } from './guard-context.ts'
import { SessionGuard } from './session-guard.ts'
import type { SessionStores } from './stores/session-stores.ts'
import type { StoreCalls } from './stores/store-calls.ts'

/** The guards of a limiter, one for each session store. */
export class SessionGuards {
  readonly #known = new Map<object, SessionGuard>()
  readonly #stores: SessionStores
  readonly #limiter: SessionLimiter
  readonly #options: GuardOptions

  constructor(stores: SessionStores, limiter: SessionLimiter, options: GuardOptions) {
    this.#stores = stores
    this.#limiter = limiter
    this.#options = options
  }

  /**
   * Returns the guard of a store. The caller installs it in the store itself.
   *
   * @param makeCalls Saves the store's own methods. Called only if the store has no guard yet.
   * @throws SessmgrError `invalid_option` if another limiter guards the store.
   */
  of<Store extends object>(store: Store, makeCalls: (store: Store, deadlineMs: number) => StoreCalls): SessionGuard {
    const known = this.#known.get(store)
    if (known) return known
    const calls = this.#stores.claim(store, makeCalls)
    const guard = new SessionGuard(store, calls, this.#limiter, this.#options)
    this.#known.set(store, guard)
    return guard
  }
}

/**
 * Returns a function that finds a guarded store, and installs the guard if needed. The store object itself is changed,
 * because the session middleware holds on to it.
 */
export function guardedBy<Store extends object, Hosted extends object>(
  makeCalls: (store: Store, deadlineMs: number) => StoreCalls,
  putUp: (store: Store, guard: SessionGuard) => Hosted,
): (guards: SessionGuards, store: Store) => Hosted {
  const known = new WeakMap<SessionGuard, Hosted>()
  return (guards, store) => {
    const guard = guards.of(store, makeCalls)
    const hosted = known.get(guard) ?? putUp(store, guard)
    known.set(guard, hosted)
    return hosted
  }
}
