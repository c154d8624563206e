import type { SessionVerdict } from '../limiter/check-session.ts'
import type { GuardContext } from './guard-context.ts'
import type { HostSessionData } from './host-types.ts'
import { type Inspected, inspectSession } from './inspect-session.ts'
import type { SeenSession } from './memory/seen-sessions.ts'
import { StoreCall } from './stores/store-calls.ts'

/** Is told what a session turned out to be, in a turn of its own: what it throws is the affair of nobody here. */
export type Loaded = (error: unknown, result?: Inspected) => void

/** A call of a store that reads its sessions in its own way. */
export type ReadSession = (call: StoreCall<HostSessionData | undefined>) => void

/**
 * Reads a session, and asks the limiter about it in the same tick when its user is known.
 *
 * Nearly every request comes by here. It waits for nothing but the answers: a promise is made only where more than a
 * live session is to be dealt with.
 */
export function loadSession(guard: GuardContext, sessionId: string, done: Loaded, read?: ReadSession): void {
  const known = guard.seen.get(sessionId)
  const load = new SessionLoad(guard, sessionId, known, done)
  if (!read) return load.start()
  load.ask()
  read(load)
}

const LIVE: SessionVerdict = Object.freeze({ live: true })

/** One session on its way out of the store. */
class SessionLoad extends StoreCall<HostSessionData | undefined> {
  readonly #guard: GuardContext
  readonly #sessionId: string
  readonly #known: SeenSession | undefined
  readonly #done: Loaded
  /** How many answers are missing: of the store, and of the limiter if it is asked. */
  #missing = 1
  #data: HostSessionData | undefined
  #verdict: SessionVerdict | undefined
  #failure: unknown
  /** When the reading began, by the watch that reads; undefined when the limiter is asked in place of it. */
  #begun: number | undefined

  constructor(guard: GuardContext, sessionId: string, known: SeenSession | undefined, done: Loaded) {
    super()
    this.#guard = guard
    this.#sessionId = sessionId
    this.#known = known
    this.#done = done
  }

  /** Reads the session over the watched connection where there is one, and asks nothing else then. */
  start(): void {
    const { limiter, calls, store } = this.#guard
    const known = this.#known
    const watched = known && limiter.watch?.reading(store)
    if (known && watched) this.#begun = limiter.watch?.begin(known)
    else this.ask()
    calls.read(this.#sessionId, this, watched)
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
    // Whatever the limiter says of a session that is gone.
    if (data === undefined) this.#end(null, this.#lost())
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
    // The watched connection was lost. The application's own may be there.
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
    inspectSession(this.#guard, this.#sessionId, data, known, this.#verdict).then(
      (result) => this.#end(null, result),
      (error: unknown) => this.#end(error),
    )
  }

  #lost(): Inspected {
    this.#guard.seen.delete(this.#sessionId)
    const ended = this.#guard.reasons.get(this.#sessionId)
    return ended ? { ended } : {}
  }

  /** In the next tick: so that the answers of one turn end together, and their responses go out back to back. */
  #end(error: unknown, result?: Inspected): void {
    process.nextTick(this.#done, error, result)
  }
}
