import { invalidOption } from '../../ground/invalid-option.ts'
import { typeInWords } from '../../ground/option-checks.ts'
import { TOKEN_SESSION } from '../../sessions/session-record.ts'
import type { HostSessions } from '../../sessions/session-registry.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { type SessionPort, StoreHealth } from '../port.ts'
import { sessionCall, sessionReads } from './store-calls.ts'

/** What sessmgr needs from a session store that has no guard. */
export interface JoinedSessions {
  /** Checks whether the store still has a session. The results 1 and 0, as from Redis, are also valid. */
  exists(sessionId: string): boolean | number | Promise<boolean | number>
  /** Deletes a session. Must not fail for an unknown id. The result is awaited and ignored. */
  destroy(sessionId: string): unknown
}

/** The calls to a session store without a guard. */
export interface JoinedCalls extends HostSessions {
  readonly health: StoreHealth
  readonly read: ReturnType<typeof sessionReads>
}

interface StoresOptions {
  /** How many milliseconds a read on sessmgr's own connection may take. */
  readonly deadlineMs: number
  /** The sessmgr store. */
  readonly store: SessmgrStore
}

/** The session store of any framework. */
type SessionStore = object

/** Returns the calls to a session store. */
export type MakeCalls<Store> = (store: Store, deadlineMs: number) => SessionPort

/**
 * The limiter that guards each store. A store cannot change its limiter, because two guards would then run on top of
 * each other.
 */
const owners = onePerProcess('owners', () => new WeakMap<SessionStore, SessionStores>())

/** An application's session stores: one, unless it has several session middlewares. */
export class SessionStores implements HostSessions {
  readonly #stores = new Map<object, HostSessions>()
  readonly #options: StoresOptions

  constructor(options: StoresOptions) {
    this.#options = options
  }

  /**
   * Assigns a store to this limiter permanently.
   *
   * @throws SessmgrError `invalid_option` if another limiter already guards the store.
   */
  claim<Store extends object>(store: Store, makeCalls: MakeCalls<Store>): SessionPort {
    if (owners.has(store)) {
      const advice = 'Use one limiter only, or a separate session store for each'
      throw invalidOption(`This session store is already guarded by another limiter. ${advice}`)
    }
    owners.set(store, this)
    const calls = makeCalls(store, this.#options.deadlineMs)
    const exists = async (sessionId: string) => (await calls.get(sessionId)) !== undefined
    const holdsAll = async (ids: readonly string[]) => (await this.#options.store.holdsAll?.(store, ids)) ?? false
    this.#stores.set(store, {
      exists,
      holdsAll,
      destroy: (sessionId) => calls.destroy(sessionId),
    })
    return calls
  }

  /** Adds a store without a guard, because the application checks its sessions itself. */
  join(sessions: JoinedSessions): JoinedCalls {
    const health = new StoreHealth()
    const call = sessionCall(health)
    const joined: HostSessions = {
      async exists(sessionId) {
        const held: unknown = await call(() => sessions.exists(sessionId))
        if (typeof held === 'boolean' || typeof held === 'number') return Boolean(held)
        throw invalidOption(`"sessions.exists" must return true or false, but returned ${typeInWords(held)}`)
      },
      destroy: async (sessionId) => void (await call(() => sessions.destroy(sessionId))),
    }
    this.#stores.set(sessions, joined)
    return Object.assign(joined, { health, read: sessionReads(this.#options.deadlineMs, health) })
  }

  async exists(sessionId: string): Promise<boolean> {
    // Token sessions are kept by clients, not in a session store.
    if (TOKEN_SESSION.test(sessionId)) return true
    // Before any session store is known, only the registry decides.
    const found = await Promise.all([...this.#stores.values()].map((store) => store.exists(sessionId)))
    return found.length === 0 || found.includes(true)
  }

  async holdsAll(sessionIds: readonly string[]): Promise<boolean> {
    const [store, ...others] = this.#stores.values()
    return others.length === 0 && ((await store?.holdsAll?.(sessionIds)) ?? false)
  }

  async destroy(sessionId: string): Promise<void> {
    const [store, ...others] = this.#stores.values()
    if (store && others.length === 0) return store.destroy(sessionId)
    await Promise.all([...this.#stores.values()].map((each) => each.destroy(sessionId)))
  }
}

/**
 * Returns an object that all copies of this package in a process share, creating it if needed. An application may load
 * the package both as an ES module and as CommonJS.
 *
 * @param name Identifies the object across versions of this package.
 */
function onePerProcess<Shared extends object>(name: string, make: () => Shared): Shared {
  const key = Symbol.for(`sessmgr.${name}`)
  const shared = globalThis as { [key: symbol]: Shared | undefined }
  shared[key] ??= make()
  return shared[key]
}
