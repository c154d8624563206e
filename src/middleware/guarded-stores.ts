import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { HostSessions } from '../sessions/host-sessions.ts'
import { type GuardedStore, type GuardOptions, guardStore } from './guarded-store.ts'
import type { HostRequest, HostStore } from './host-types.ts'

/** The session stores that stand behind the guard: one, unless an application has several session middlewares. */
export class GuardedStores implements HostSessions {
  readonly #stores = new Map<HostStore, GuardedStore>()
  readonly #limiter: () => SessionLimiter
  readonly #options: GuardOptions
  /** Requests that came to sessmgr before they had a session: no session may come after that. */
  readonly tooEarly = new WeakSet<HostRequest>()

  /** @param limiter Asked for late, because the limiter in turn asks these stores about sessions. */
  constructor(limiter: () => SessionLimiter, options: Omit<GuardOptions, 'tooEarly'>) {
    this.#limiter = limiter
    this.#options = { ...options, tooEarly: this.tooEarly }
  }

  /** Finds the guard of a store, putting one up if need be. */
  of(store: HostStore): GuardedStore {
    const guarded = this.#stores.get(store) ?? guardStore(store, this.#limiter(), this.#options)
    this.#stores.set(store, guarded)
    return guarded
  }

  all(): readonly GuardedStore[] {
    return [...this.#stores.values()]
  }

  async exists(sessionId: string): Promise<boolean> {
    // Before any session store is known there is nothing that could contradict the registry.
    const found = await Promise.all(this.all().map(({ calls }) => calls.get(sessionId)))
    return found.length === 0 || found.some((data) => data !== undefined)
  }

  async destroy(sessionId: string): Promise<void> {
    await Promise.all(this.all().map(({ calls }) => calls.destroy(sessionId)))
  }
}
