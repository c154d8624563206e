import type { UserId } from '../ground/user-id.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { GuardOptions } from './guard-context.ts'
import { SessionGuard } from './session-guard.ts'
import type { MakeCalls, SessionStores } from './stores/session-stores.ts'

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
  of<Store extends object>(store: Store, makeCalls: MakeCalls<Store>): SessionGuard {
    const known = this.#known.get(store)
    if (known) return known
    const calls = this.#stores.claim(store, makeCalls)
    const guard = new SessionGuard(store, calls, this.#limiter, this.#options)
    this.#known.set(store, guard)
    return guard
  }

  /** Forgets a user, whose sessions have ended. */
  forget(userId: UserId): void {
    for (const { seen, marks, destroyed } of this.#known.values()) {
      for (const sessionId of seen.forget(userId)) destroyed.set(sessionId, true)
      marks.forget(userId)
    }
  }
}

/**
 * Returns a function that finds a guarded store, and installs the guard if needed. The store object itself is changed,
 * because the session middleware holds on to it.
 */
export function guardedBy<Store extends object, Hosted extends object>(
  makeCalls: MakeCalls<Store>,
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
