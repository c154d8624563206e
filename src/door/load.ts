import { ENDED, type SessionVerdict } from '../limiter/check-session.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { SignedOutReason } from '../sessions/session-end.ts'
import { type Token, tokenOf } from '../sessions/session-record.ts'
import type { EndedState, HostSessionData } from './host-types.ts'
import type { Notices } from './notice/notices.ts'
import { StoreCall } from './port.ts'
import type { Visit } from './request/visit.ts'
import type { GuardContext } from './sessions/guard-context.ts'
import type { KnownSessions, LoginSession } from './sessions/known-sessions.ts'
import type { SeenSession } from './sessions/session-lives.ts'

/**
 * Called with the result of loading a session. Runs outside the guard's and the store's own calls, so that its errors
 * do not affect them.
 */
export type Loaded = (error: unknown, result?: Inspected | undefined) => void

/**
 * Reads a session with a store's own method. `from` is the same store on another connection. Returns false if the session
 * is read elsewhere all the same.
 */
export type ReadSession = (sessionId: string, call: StoreCall<HostSessionData | undefined>, from?: object) => unknown

/**
 * Reads a session and, if its user is known, asks the limiter about it in the same tick.
 *
 * Nearly every request goes through here, so it avoids promises for live sessions. If the store responds before its
 * method returns, and there is no user to ask about, `done` is called before this function returns.
 *
 * The caller itself finds out what ended a missing session.
 *
 * @param request The request, for stores that receive it.
 */
export function loadSession(
  guard: KnownSessions,
  sessionId: string,
  read: ReadSession,
  done: Loaded,
  request?: object,
): void {
  const known = guard.seen.get(sessionId)
  new SessionLoad(guard, sessionId, known, read, done, request).start()
}

/** Like {@link loadSession}, but returns a promise. */
export function loadedSession(guard: KnownSessions, sessionId: string, read: ReadSession): Promise<Inspected> {
  return new Promise((resolve, reject) => {
    loadSession(guard, sessionId, read, (error, result = {}) => (error ? reject(error) : resolve(result)))
  })
}

const LIVE: SessionVerdict = Object.freeze({ live: true })

/** One session being loaded. */
class SessionLoad extends StoreCall<HostSessionData | undefined> {
  readonly #guard: KnownSessions
  readonly #sessionId: string
  readonly #known: SeenSession | undefined
  readonly #read: ReadSession
  readonly #done: Loaded
  readonly #request: object | undefined
  #data: HostSessionData | undefined
  #verdict: SessionVerdict | undefined
  /** Whether the session store has answered. */
  #isRead = false
  /** Whether the limiter was asked about the session, and has not answered yet. */
  #isAsking = false
  /** Whether `done` was or will be called. */
  #isOver = false
  /**
   * What `watch.begin()` returned for the read on the watched connection. Undefined if the limiter is asked instead.
   */
  #begun: number | undefined
  /** Whether the limiter was asked about the session. */
  #isChecked = false
  /** Whether the store's method is still running. */
  #isStarting = false
  /** The result, if it arrived before the store's method returned. */
  #early: Parameters<Loaded> | undefined

  constructor(
    guard: KnownSessions,
    sessionId: string,
    known: SeenSession | undefined,
    read: ReadSession,
    done: Loaded,
    request: object | undefined,
  ) {
    super()
    this.#read = read
    this.#request = request
    this.#guard = guard
    this.#sessionId = sessionId
    this.#known = known
    this.#done = done
  }

  /**
   * Reads the session on the watched connection, if there is one. Otherwise, reads it from its store, and asks sessmgr's
   * own store in the same turn. While that one is away, a session store that may be down as well is not asked, so that
   * an outage fills no queue.
   */
  start(): void {
    const { limiter, readable } = this.#guard
    const watched = this.#known && limiter.watch?.reading(readable)
    if (this.#known && watched) {
      this.#begun = limiter.watch?.begin(this.#known)
      if (this.#readFrom(watched) !== false) return
      this.#begun = undefined
      return this.#ask()
    }
    const isLast = this.#guard.areStoresAway
    this.#ask(isLast)
    if (!isLast) this.#readFrom()
  }

  #readFrom(watched?: object): unknown {
    this.#isStarting = true
    const isRead = this.#read(this.#sessionId, this, watched)
    this.#isStarting = false
    if (this.#early) this.#done(...this.#early)
    return isRead
  }

  /**
   * Asks the limiter about the session. If its user is unknown, asks only whether the limiter's store responds.
   *
   * @param isFirst Whether the session is read only then.
   */
  #ask(isFirst = false): void {
    const { limiter } = this.#guard
    const known = this.#known
    const since = performance.now()
    const asked = known ? limiter.check(known.userId, known.token) : limiter.reach()
    this.#isAsking = known !== undefined
    this.#isChecked = this.#isAsking
    asked.then(
      (verdict) => {
        this.#isAsking = false
        this.#verdict = verdict || undefined
        if (isFirst) process.nextTick(() => this.#readFrom())
        else if (known && this.#data) this.#judge()
      },
      (error: unknown) => {
        // A session that names no user needs no answer from sessmgr's store, so its own store has until the deadline.
        const patience = known || isFirst ? 0 : since + this.#guard.options.deadlineMs - performance.now()
        if (patience <= 0) this.#end(error)
        else if (!this.#isRead) setTimeout(() => this.#isRead || this.#end(error), patience)
      },
    )
  }

  answer(data: HostSessionData | undefined): void {
    this.#data = data
    this.#isRead = true
    // The session no longer exists, whatever the limiter reports.
    if (data === undefined) this.#lose()
    else if (this.#begun !== undefined && !this.#isKnown(this.#begun)) this.#ask()
    else if (!this.#isAsking) this.#judge()
  }

  /** Uses what the watch knows about the session. Returns false if it knows nothing. */
  #isKnown(begun: number): boolean {
    const { watch } = this.#guard.limiter
    const known = this.#known
    if (!known) return false
    const { use, endedBefore: current } = known
    const isLive = watch?.isLive(known, begun) === true
    if (isLive) this.#verdict = use ? { live: true, use } : LIVE
    else if (current !== undefined) this.#verdict = { live: false, reason: 'logout_all', current }
    else return false
    known.use = undefined
    known.endedBefore = undefined
    return true
  }

  fail(error: unknown): void {
    const wasWatched = this.#begun !== undefined
    this.#begun = undefined
    const isLate = (error as Error).cause === undefined
    if (wasWatched && isLate) this.#guard.limiter.watch?.drop()
    if (!wasWatched || isLate) return this.#end(error)
    // The watched connection was lost, but the application's own connection may still work.
    this.#ask()
    this.#readFrom()
  }

  #judge(): void {
    try {
      this.#judgeData()
    } catch (error) {
      // The data may be an object of the application, with accessors that throw.
      this.#end(error)
    }
  }

  #judgeData(): void {
    const data = this.#data as HostSessionData
    const known = this.#known
    const verdict = this.#verdict
    const isTakenUp = verdict?.live && verdict.use?.takenUp !== false && !verdict.use?.host
    if (known && isTakenUp && this.#guard.belongsTo(known, data)) {
      if (verdict.use) {
        known.noteBound(verdict.use)
        this.#guard.noteRecorded(known, data, verdict.use)
      }
      this.#guard.noteArrival(known, data)
      const { cache } = this.#guard
      cache.hits += 1
      if (!this.#isChecked) cache.unasked += 1
      return this.#end(null, { data, session: known.session })
    }
    if (!known && this.#guard.isVisitors(data)) return this.#end(null, { data })
    inspectSession(this.#guard, this.#sessionId, data, known, this.#verdict, this.#request).then(
      (result) => this.#end(null, result),
      (error: unknown) => this.#end(error),
    )
  }

  #lose(): void {
    this.#guard.lose(this.#sessionId)
    this.#end(null, {})
  }

  /**
   * Calls `done` in the next tick, so that loads that finish in the same turn continue together and their responses are
   * sent back to back. While the store's method is running, waits until it returns: the store would mistake an
   * exception for its own.
   */
  #end(error: unknown, result?: Inspected): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isStarting) this.#early = [error, result]
    else process.nextTick(this.#done, error, result)
  }
}

/** The result of checking a stored session. */
export interface Inspected<Data = HostSessionData> {
  /** The data to continue with, or undefined if the session has ended or never existed. */
  readonly data?: Data
  readonly session?: LoginSession
  /** Whether the caller must pair the login session with its user, because it has no pair of this registry yet. */
  readonly needsPair?: boolean
  /** How the session ended, if it has ended. */
  readonly ended?: EndedState
}

/**
 * Checks a session that was read. If it is over, removes it from the store.
 *
 * @param early What the limiter has already reported about the session.
 * @param request The request that the session was read for, for stores that receive it.
 */
export async function inspectSession(
  guard: KnownSessions,
  sessionId: string,
  data: HostSessionData,
  known: SeenSession | undefined,
  early?: SessionVerdict,
  request?: object,
): Promise<Inspected> {
  const token = known?.token ?? tokenOf(sessionId)
  const judged = await guard.judge(sessionId, data, known, early)
  if (!judged) return { data }
  const { userId, verdict, needsPair } = judged
  if (verdict.live && (await guard.limiter.takeUp(userId, token, verdict.use))) {
    if (known) guard.cache.hits += 1
    else guard.cache.misses += 1
    guard.cache.tell()
    const seen = known?.userId === userId ? known : guard.seen.note(sessionId, userId, token)
    if (verdict.use) {
      seen.noteBound(verdict.use)
      guard.noteRecorded(seen, data, verdict.use)
    }
    guard.noteArrival(seen, data)
    const { host } = verdict.use ?? {}
    return { data, session: { ...seen.session, userId, ...(host && { actor: host[0] }) }, needsPair }
  }
  guard.lose(sessionId)
  const { reason: found, current }: Exclude<SessionVerdict, { live: true }> = verdict.live ? ENDED : verdict
  const isOver = found === 'max_age' || found === 'signed_out'
  if (isOver) await guard.limiter.endOver(userId, token, found)
  const reason = isOver ? 'ended' : found
  const ended = endedState(guard.limiter, token, reason, current)
  if (reason === 'logout_all') await guard.limiter.invalidate(userId, sessionId, current)
  else await guard.calls.destroy(sessionId, request)
  guard.endings.set(sessionId, { reason })
  guard.endings.set(sessionId, await ended)
  return { ended: await ended }
}

/**
 * Checks a session that was loaded without the guard, and sets the state of its request.
 *
 * Resolves to true if the session is over. The framework must then replace it with an empty one.
 */
export async function judgeSession(guard: GuardContext, visit: Visit): Promise<boolean> {
  const { session, sessionID = '' } = visit
  const known = guard.seen.get(sessionID)
  const found = session ? await inspectSession(guard, sessionID, session, known, undefined, visit) : {}
  const { ended } = found
  visit.sessmgr = ended ? { ended } : {}
  if (found.session) goOnWith(guard, visit, found.session, found.needsPair)
  return ended !== undefined
}

/** Attaches a loaded login session to its request, and pairs the session with its user if needed. */
export function goOnWith(guard: GuardContext, visit: Visit, login: LoginSession, needsPair = false): void {
  const { session, sessionID = '' } = visit
  if (!session) return
  if (needsPair) guard.pair(sessionID, session, login)
  visit.noteOrigin(login.userId, login.token, guard.options.sessionUser(session) !== undefined)
  visit.attend(session)
  visit.sessmgr = { session: login }
}

/** Returns why a session ended, with its cause if known. */
export async function endedState(
  limiter: Pick<SessionLimiter, 'causeOf'>,
  token: Token,
  reason: SignedOutReason,
  current?: number,
): Promise<EndedState> {
  const cause = await limiter.causeOf(token, reason, current)
  return cause ? { reason, cause } : { reason }
}

/** Returns how a session ended that is no longer in its store. */
export async function lostState(guard: KnownSessions, sessionId: string): Promise<EndedState> {
  const known = guard.endings.get(sessionId)
  if (known?.cause) return known
  const { reason } = known ?? { reason: 'missing' }
  // The session ended before it was deleted, so any note about its end already exists. Do not wait for one.
  const asked = reason === 'ended' ? 'missing' : reason
  const found = { ...(await endedState(guard.limiter, guard.tokenFor(sessionId), asked)), reason }
  if (found.cause) guard.endings.set(sessionId, found)
  return found
}

/** Sets how the session of a request has ended, and keeps the reason for the next page. */
export async function explainEnd(
  guard: KnownSessions,
  sessionId: string,
  visit: Visit,
  notices: Notices,
): Promise<void> {
  const find = () => lostState(guard, sessionId)
  const { response } = visit
  const ended = await (response ? notices.keep(visit, guard.tokenFor(sessionId), find, response) : find())
  visit.sessmgr = { ended }
}
