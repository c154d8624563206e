import type { SessionVerdict } from '../limiter/check-session.ts'
import { lostState } from './ended-state.ts'
import type { GuardContext } from './guard-context.ts'
import type { HostSessionData } from './host-types.ts'
import { type Inspected, inspectSession, isVisitors } from './inspect-session.ts'
import type { SeenSession } from './memory/seen-sessions.ts'
import { StoreCall } from './stores/store-calls.ts'

/**
 * Called with the result of loading a session, outside all calls of the guard and the store, so that errors thrown here
 * do not affect them.
 */
export type Loaded = (error: unknown, result?: Inspected | undefined) => void

/** Reads a session with a store's own method. */
export type ReadSession = (call: StoreCall<HostSessionData | undefined>) => void

/**
 * Reads a session and, if its user is known, asks the limiter about it in the same tick.
 *
 * Nearly every request goes through here, so it avoids promises for live sessions. If the store responds before its
 * method returns, and there is nobody to ask about, this also calls `done` before it returns.
 *
 * @param request The request, for stores that receive it.
 * @param leavesCause Whether the caller finds out itself what ended a missing session.
 */
export function loadSession(
  guard: GuardContext,
  sessionId: string,
  done: Loaded,
  read?: ReadSession,
  request?: object,
  leavesCause = false,
): void {
  const known = guard.seen.get(sessionId)
  const load = new SessionLoad(guard, sessionId, known, done, leavesCause, request)
  if (!read) return load.start()
  load.ask()
  read(load)
}

const LIVE: SessionVerdict = Object.freeze({ live: true })

/** One session being loaded. */
class SessionLoad extends StoreCall<HostSessionData | undefined> {
  readonly #guard: GuardContext
  readonly #sessionId: string
  readonly #known: SeenSession | undefined
  readonly #done: Loaded
  readonly #leavesCause: boolean
  readonly #request: object | undefined
  /** How many results are still missing: the store's and, if it was asked, the limiter's. */
  #missing = 1
  #data: HostSessionData | undefined
  #verdict: SessionVerdict | undefined
  #failure: unknown
  /** Start of the read on the watched connection, or undefined if the limiter is asked instead. */
  #begun: number | undefined
  /** Whether the store's method has not returned yet. */
  #isStarting = false
  /** The result, if it was there when the store's method returned. */
  #early: Parameters<Loaded> | undefined

  constructor(
    guard: GuardContext,
    sessionId: string,
    known: SeenSession | undefined,
    done: Loaded,
    leavesCause: boolean,
    request: object | undefined,
  ) {
    super()
    this.#leavesCause = leavesCause
    this.#request = request
    this.#guard = guard
    this.#sessionId = sessionId
    this.#known = known
    this.#done = done
  }

  /** Reads the session on the watched connection if there is one, without asking the limiter. */
  start(): void {
    const { limiter, calls, store } = this.#guard
    const known = this.#known
    const watched = known && limiter.watch?.reading(store)
    if (known && watched) this.#begun = limiter.watch?.begin(known)
    else this.ask()
    this.#isStarting = true
    calls.read(this.#sessionId, this, watched)
    this.#isStarting = false
    if (this.#early) this.#done(...this.#early)
  }

  /** Asks the limiter about the session, if its user is known. */
  ask(): void {
    const known = this.#known
    if (!known) return
    this.#missing += 1
    this.#guard.limiter.check(known.userId, known.token).then(
      (value) => this.#told(value),
      (error: unknown) => this.#told(undefined, error),
    )
  }

  answer(data: HostSessionData | undefined): void {
    this.#data = data
    this.#missing -= 1
    // The session no longer exists, whatever the limiter reports.
    if (data === undefined) this.#lose()
    else if (this.#begun !== undefined && !this.#isKnownToLive(this.#begun)) this.ask()
    else if (this.#missing === 0) this.#judge(data)
  }

  #isKnownToLive(begun: number): boolean {
    const { watch } = this.#guard.limiter
    if (!this.#known || !watch?.isLive(this.#known, begun)) return false
    this.#verdict = LIVE
    return true
  }

  fail(error: unknown): void {
    const wasWatched = this.#begun !== undefined
    this.#begun = undefined
    const isLate = (error as Error).cause === undefined
    if (wasWatched && isLate) this.#guard.limiter.watch?.drop()
    if (!wasWatched || isLate) return this.#end(error)
    // The watched connection was lost, but the application's own connection may still work.
    this.ask()
    this.#guard.calls.read(this.#sessionId, this)
  }

  #told(verdict: SessionVerdict | undefined, failure?: unknown): void {
    this.#verdict = verdict
    this.#failure = failure
    this.#missing -= 1
    if (this.#missing === 0 && this.#data !== undefined) this.#judge(this.#data)
  }

  #judge(data: HostSessionData): void {
    if (this.#failure !== undefined) return this.#end(this.#failure)
    const known = this.#known
    const marker = known && this.#verdict?.live && this.#guard.marks.known(data, known.token)
    if (marker && marker.userId === known.userId) return this.#end(null, { data, session: known.session })
    if (!known && isVisitors(this.#guard, data)) return this.#end(null, { data })
    inspectSession(this.#guard, this.#sessionId, data, known, this.#verdict, this.#request).then(
      (result) => this.#end(null, result),
      (error: unknown) => this.#end(error),
    )
  }

  #lose(): void {
    this.#guard.seen.delete(this.#sessionId)
    if (this.#leavesCause) return this.#end(null, {})
    void lostState(this.#guard, this.#sessionId).then((ended) => this.#end(null, { ended }))
  }

  /**
   * Ends in the next tick, so that results from the same turn end together and their responses are sent back to back.
   * During the store's method, its return ends the load instead: the store would mistake an exception for its own.
   */
  #end(error: unknown, result?: Inspected): void {
    if (this.#isStarting) this.#early = [error, result]
    else process.nextTick(this.#done, error, result)
  }
}
