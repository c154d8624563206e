import { errorText } from '../ground/errors.ts'
import { logFailure } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { UserEnds } from '../sessions/session-registry.ts'
import type { HostSessionData } from './host-types.ts'
import { type Inspected, loadedSession } from './load.ts'
import { type SessionPort, StoreCall } from './port.ts'
import type { Visit } from './request/visit.ts'
import { giveUp, saveSession } from './save.ts'
import { GuardContext, type GuardOptions } from './sessions/guard-context.ts'
import { pairOf } from './sessions/pair.ts'
import { hasInvalidExpiry } from './sessions/session-lives.ts'
import type { MakeCalls, SessionStores } from './stores/session-stores.ts'
import { calledBack, promised } from './stores/store-calls.ts'

/** A request that may carry the guard of its session, set by the framework's adapter. */
export interface GuardedVisit extends Visit {
  readonly guard?: SessionGuard
}

/** Records the use of a session while the request waits. */
class UseNote extends StoreCall {
  readonly #guard: SessionGuard
  readonly #sessionId: string
  readonly #done: () => void

  constructor(guard: SessionGuard, sessionId: string, done: () => void) {
    super()
    this.#guard = guard
    this.#sessionId = sessionId
    this.#done = done
  }

  answer(): void {
    process.nextTick(this.#done)
  }

  fail(error: unknown): void {
    this.#guard.logUnnoted(this.#sessionId, error)
    process.nextTick(this.#done)
  }
}

/** Guards the sessions of a session store as they are read, written, used and destroyed. */
export class SessionGuard extends GuardContext {
  /** Reads and checks a session; see {@link loadSession}. */
  load(sessionId: string): Promise<Inspected> {
    return loadedSession(this, sessionId, this.calls.read)
  }

  /** Writes a session, unless it has ended in the meantime; see {@link saveSession}. */
  readonly save = saveSession.bind(undefined, this)

  /**
   * Writes a session that names no user and never did: like `save`, but without a request or a promise. Returns false
   * if the session needs `save`.
   */
  saveVisitors(sessionId: string, data: HostSessionData, done: (error: unknown) => void): boolean {
    const { write } = this.calls
    if (!write || this.seen.get(sessionId) || !this.isVisitors(data)) return false
    calledBack((call) => write(sessionId, data, call), done)
    return true
  }

  /** Logs a failed write or destruction whose response has been sent. */
  logUnsaved(sessionId: string, error: unknown): void {
    this.#log(
      'A session could not be saved after its response was sent, so its last changes are lost.',
      sessionId,
      error,
    )
  }

  #log(message: string, sessionId: string, error: unknown): void {
    const details = { token: this.tokenFor(sessionId), error: errorText(error, sessionId) }
    logFailure(this.options.logger, message, details)
  }

  /** Checks whether recording the use of a session can wait. Only for frameworks that do not touch their store. */
  canWait(sessionId: string, data: HostSessionData): boolean {
    return this.lives.isKnown(data) && this.seen.isFresh(sessionId, data)
  }

  /**
   * Records the use of a session, and then calls `done`. Usually creates no promise.
   *
   * @param fail Handles a failure and calls `done`. By default, a failure is only logged.
   */
  noteUse(
    sessionId: string,
    data: HostSessionData,
    done: () => void,
    visit?: Visit,
    fail = (error: unknown, after: () => void) => {
      this.logUnnoted(sessionId, error)
      process.nextTick(after)
    },
  ): void {
    const { touch } = this.calls
    if (!this.seen.isFresh(sessionId, data)) {
      this.#touchEverywhere(sessionId, data, visit).then(
        () => process.nextTick(done),
        (error: unknown) => fail(error, done),
      )
    } else if (!touch || this.canWaitInStore(sessionId, data)) process.nextTick(done)
    else this.#touchStored(touch, sessionId, data, new UseNote(this, sessionId, done))
  }

  /** Touches a session in its store, so that further uses need not be written for a while. */
  #touchStored(
    touch: NonNullable<SessionPort['touch']>,
    sessionId: string,
    data: HostSessionData,
    call: StoreCall,
  ): void {
    const { touchEveryMs } = this.options
    this.seen.noteStored(sessionId, this.lives.touchInterval(data, touchEveryMs))
    touch(sessionId, this.lives.withSpare(data, touchEveryMs), call)
  }

  /** Records the use of a session. Failures are only logged, because the response has already been sent. */
  async touch(
    sessionId: string,
    data: HostSessionData,
    isFresh = this.seen.isFresh(sessionId, data),
    visit?: Visit,
  ): Promise<void> {
    try {
      await (isFresh ? this.#touchInStore(sessionId, data) : this.#touchEverywhere(sessionId, data, visit))
    } catch (error) {
      this.logUnnoted(sessionId, error)
    }
  }

  logUnnoted(sessionId: string, error: unknown): void {
    this.#log('The last use of a session could not be saved, so the session may expire early.', sessionId, error)
  }

  #touchInStore(sessionId: string, data: HostSessionData): Promise<void> | undefined {
    const { touch } = this.calls
    return touch && promised<void>((call) => this.#touchStored(touch, sessionId, data, call))
  }

  async #touchEverywhere(sessionId: string, data: HostSessionData, visit: Visit | undefined): Promise<void> {
    const pair = pairOf(data, this.tokenFor(sessionId))
    // No store can read an invalid date, so the session keeps the expiry that it has.
    if (!pair || hasInvalidExpiry(data)) return this.#touchInStore(sessionId, data)
    if (this.lives.isOver(data)) return this.destroy(sessionId, visit)
    const { userId, token } = pair
    const interval = this.lives.touchInterval(data, this.options.touchEveryMs)
    const freshMs = this.seen.hasOtherLife(sessionId, data) ? 0 : interval / 2
    this.seen.noteTouch(sessionId, data, interval)
    this.cache.tell()
    const registered = this.limiter.touch(userId, token, this.lives.ttlOf(data) + this.lives.spareMs(interval), freshMs)
    await Promise.all([registered, this.#touchInStore(sessionId, data)])
    if ((await registered) || !(await this.isCurrent(pair))) return
    // The next request finds out whether the session is over. It is not deleted here: a login of another user may have
    // kept its id.
    this.lose(sessionId)
  }

  /** Destroys a session and frees its slot. `visit` is the request that destroys it, if known. */
  async destroy(sessionId: string, visit?: Visit): Promise<void> {
    const token = this.tokenFor(sessionId)
    const ends = this.#free(sessionId, visit)
    visit?.giveUp(token, ends)
    await ends
    await this.calls.destroy(sessionId, visit)
  }

  /** Frees the slot of a session, if it has one. */
  async #free(sessionId: string, visit: Visit | undefined): Promise<UserEnds | undefined> {
    const userId = this.seen.get(sessionId)?.userId ?? (await this.#registeredUserInStore(sessionId, visit))
    if (userId === undefined) return undefined
    this.destroyed.set(sessionId, true)
    return this.giveUp(sessionId, userId)
  }

  async #registeredUserInStore(sessionId: string, visit: Visit | undefined): Promise<UserId | undefined> {
    const data = await this.calls.get(sessionId, visit)
    return data && this.pairOf(sessionId, data)?.userId
  }

  /**
   * Ends the browser's previous session after a login. `holder` is the user who was signed in with it, if any. Failures
   * are only logged.
   */
  async leave(sessionId: string, holder: UserId | undefined, visit: Visit): Promise<void> {
    try {
      if (holder !== undefined) await giveUp(this, sessionId, holder, visit)
      await this.calls.destroy(sessionId, visit)
    } catch (error) {
      this.#log("A visitor's session could not be ended at login. It stays until it expires.", sessionId, error)
    }
  }
}

/** The guards of a limiter, one for each session store. */
export class SessionGuards {
  readonly #known = new Map<object, SessionGuard>()
  readonly #stores: SessionStores
  readonly limiter: SessionLimiter
  readonly #options: GuardOptions

  constructor(stores: SessionStores, limiter: SessionLimiter, options: GuardOptions) {
    this.#stores = stores
    this.limiter = limiter
    this.#options = options
    if (limiter.watch) limiter.watch.capacity = options.sessionCacheSize
  }

  /**
   * Returns the guard of a store, creating it if needed. The caller must install it in the store.
   *
   * @param makeCalls Saves the store's own methods. Called only if the store has no guard yet.
   * @throws SessmgrError `invalid_option` if another limiter guards the store.
   */
  of<Store extends object>(store: Store, makeCalls: MakeCalls<Store>): SessionGuard {
    const known = this.#known.get(store)
    if (known) return known
    const calls = this.#stores.claim(store, makeCalls)
    const guard = new SessionGuard(store, calls, this.limiter, this.#options)
    this.#known.set(store, guard)
    return guard
  }

  /** Forgets a user whose sessions have ended. */
  forget(userId: UserId): void {
    for (const { seen, destroyed } of this.#known.values()) {
      for (const sessionId of seen.forget(userId)) destroyed.set(sessionId, true)
    }
  }
}

/**
 * Returns a function that returns the guarded store, installing the guard if needed. This changes the store object
 * itself, because the session middleware keeps a reference to it.
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
