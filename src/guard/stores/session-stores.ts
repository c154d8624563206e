import { invalidOption } from '../../ground/invalid-option.ts'
import { onePerProcess } from '../../ground/one-per-process.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { HostSessions } from '../../sessions/host-sessions.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { type ExpressStore, type ExpressStoreOptions, type GuardedStore, guardExpressStore } from '../express-store.ts'
import type { HostRequest, HostStore } from '../host-types.ts'
import { SessionGuard } from '../session-guard.ts'
import { sessionCall } from './session-call.ts'
import type { StoreCalls } from './store-calls.ts'
import { warnOfLastingSessions } from './warn-of-local-store.ts'

/** What a session store that the application asks itself can do. */
export interface JoinedSessions {
  /** Tells whether the store still holds a session. What Redis answers will do: 1 or 0. */
  exists(sessionId: string): boolean | number | Promise<boolean | number>
  /** Deletes a session. Unknown ids are no error. What it answers is waited for and not looked at. */
  destroy(sessionId: string): unknown
}

/** How session stores are guarded. */
interface StoresOptions extends ExpressStoreOptions {
  /** What sessmgr itself remembers by. */
  readonly store: SessmgrStore
}

/** Whose guard stands in front of a store: it stands there for good, and a second one would ask the first. */
const owners = onePerProcess('owners', () => new WeakMap<HostStore, SessionStores>())

/** The session stores that stand behind the guard: one, unless an application has several session middlewares. */
export class SessionStores implements HostSessions {
  readonly #stores = new Map<HostStore, ExpressStore>()
  readonly #takenOver = new Map<HostStore, GuardedStore>()
  readonly #joined = new Map<JoinedSessions, HostSessions>()
  readonly #limiter: () => SessionLimiter
  readonly #options: StoresOptions
  /** Requests that came to sessmgr before they had a session: no session may come after that. */
  readonly tooEarly = new WeakSet<HostRequest>()

  /** @param limiter Asked for late, because the limiter in turn asks these stores about sessions. */
  constructor(limiter: () => SessionLimiter, options: Omit<StoresOptions, 'tooEarly'>) {
    this.#limiter = limiter
    this.#options = { ...options, tooEarly: this.tooEarly }
  }

  /** Finds the guard of a store, putting one up if need be. @throws SessmgrError `invalid_option` when another limiter has. */
  of(store: HostStore): ExpressStore {
    const known = this.#stores.get(store)
    if (known) return known
    this.#own(store)
    const guarded = guardExpressStore(store, this.#limiter(), this.#options)
    this.#stores.set(store, guarded)
    return guarded
  }

  #own(store: HostStore): void {
    const owner = owners.get(store) ?? this
    if (owner !== this) {
      const advice = 'Give every limiter a session store of its own, or let all share one limiter'
      throw invalidOption(`this session store is guarded by another limiter already. ${advice}`)
    }
    owners.set(store, this)
    warnOfLastingSessions(store, this.#options.store, this.#options.logger)
  }

  /** Finds the guard of a store, which may be another host's. */
  guardedBy(store: HostStore): GuardedStore {
    return this.#takenOver.get(store) ?? this.of(store)
  }

  /**
   * Takes a store over for a host that puts up a guard of its own.
   *
   * @param handle What stands for the store on that host's requests.
   * @param makeCalls Makes the calls to the store, for it may be promises that its methods return.
   * @throws SessmgrError `invalid_option` when another limiter guards the store.
   */
  takeOver(store: HostStore, handle: HostStore, makeCalls: (deadlineMs: number) => StoreCalls): GuardedStore {
    this.#own(store)
    const guarded = this.#stores.get(store)
    this.#stores.delete(store)
    const calls = guarded?.calls ?? makeCalls(this.#options.deadlineMs)
    const taken = { calls, guard: guarded?.guard ?? new SessionGuard(calls, this.#limiter(), this.#options) }
    this.#takenOver.set(handle, taken)
    return taken
  }

  /** Counts on a store that nobody guards: the application asks about its sessions itself. Gives its calls a deadline. */
  join(sessions: JoinedSessions): HostSessions {
    const call = sessionCall(this.#options.deadlineMs)
    const joined: HostSessions = {
      async exists(sessionId) {
        const held: unknown = await call(sessionId, () => sessions.exists(sessionId))
        if (typeof held === 'boolean' || typeof held === 'number') return Boolean(held)
        throw invalidOption(`"sessions.exists" must tell true or false; a value of type ${typeof held} came back`)
      },
      destroy: async (sessionId) => void (await call(sessionId, () => sessions.destroy(sessionId))),
    }
    this.#joined.set(sessions, joined)
    return joined
  }

  all(): readonly ExpressStore[] {
    return [...this.#stores.values()]
  }

  #parts(): HostSessions[] {
    const calls = [...this.#stores.values(), ...this.#takenOver.values()].map(({ calls }) => calls)
    const guarded = calls.map(({ get, destroy }) => ({
      destroy,
      exists: async (id: string) => (await get(id)) !== undefined,
    }))
    return [...guarded, ...this.#joined.values()]
  }

  async exists(sessionId: string): Promise<boolean> {
    // Before any session store is known there is nothing that could contradict the registry.
    const found = await Promise.all(this.#parts().map((part) => part.exists(sessionId)))
    return found.length === 0 || found.includes(true)
  }

  async destroy(sessionId: string): Promise<void> {
    await Promise.all(this.#parts().map((part) => part.destroy(sessionId)))
  }
}
