import type { EndedReason, SessionVerdict } from '../limiter/check-session.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { Logger } from '../logger.ts'
import { tokenOf } from '../sessions/token.ts'
import type { UserId } from '../user-id.ts'
import type { HostRequest, HostSessionData, HostStore, RequestState } from './host-types.ts'
import { withHttpStatus } from './http-error.ts'
import { SeenSessions } from './seen-sessions.ts'
import { markedUser, readMarker, writeMarker } from './session-marker.ts'
import { sessionTtl, touchInterval } from './session-ttl.ts'
import { type StoreCalls, storeCalls } from './store-calls.ts'

type LoginSession = NonNullable<RequestState['session']>

/** What a session in the store turned out to be. */
interface Inspected {
  /** The data to go on with; undefined when there is no session, or no longer. */
  readonly data?: HostSessionData
  readonly session?: LoginSession
  readonly ended?: EndedReason
}

/** How a store is guarded. */
export interface GuardOptions {
  /** Reads the user out of session data from before the guard. */
  readonly sessionUser: (data: HostSessionData) => UserId | undefined
  /** Milliseconds that a call to the session store may take. */
  readonly deadlineMs: number
  /** Milliseconds between two notes that a session is in use. */
  readonly touchEveryMs: number
  readonly logger: Logger
}

/** A session store behind the guard. */
export interface GuardedStore {
  /** The store's own methods, past the guard. */
  readonly calls: StoreCalls
  /** False between the store's events `disconnect` and `connect`: express-session then makes no sessions. */
  readonly connected: () => boolean
  /** What the guard found out when the request's session was loaded; undefined when that was past the guard. */
  stateOf(request: HostRequest): RequestState | undefined
  /** The session id that the request came with, if there is no session of that id. */
  presentedId(request: HostRequest): string | undefined
  /** Judges a session that was loaded past the guard. */
  inspect(sessionId: string, data: HostSessionData): Promise<Inspected>
  /** Notes that a session now belongs to a user. */
  mark(sessionId: string, data: HostSessionData, session: LoginSession): void
  /** Reads the user that a session was registered for. */
  registeredUser(sessionId: string, data: HostSessionData): UserId | undefined
  /**
   * Runs the login of a request. Where the host regenerates the session meanwhile, the one that the visitor came with
   * stays in its store and its slot: another login must not take it for lost, and a refused one leaves it as it was.
   */
  loggingIn<T>(request: HostRequest, login: () => Promise<T>): Promise<T>
  /** Ends the session that a visitor, perhaps signed in as `holder`, has left by logging in. Logs a failure. */
  leave(sessionId: string, holder: UserId | undefined): Promise<void>
}

/**
 * Puts the guard in front of a store, in place, because express-session holds the very object.
 *
 * Reading: an ended session is reported as missing, so nothing that comes after ever sees it. Writing: a session that
 * has been ended since it was read is not written, so a slow request cannot bring it back. Destroying: frees the slot.
 */
export function guardStore(
  store: HostStore,
  limiter: SessionLimiter,
  { sessionUser, deadlineMs, touchEveryMs, logger }: GuardOptions,
): GuardedStore {
  const calls = storeCalls(store, deadlineMs)
  const seen = new SeenSessions()
  const states = new WeakMap<HostRequest, RequestState>()
  const presented = new WeakMap<HostRequest, string>()
  const loggingIn = new WeakSet<HostRequest>()
  // Bridges store.get and the createSession or generate that express-session calls, synchronously, from its callback.
  let loaded: { sessionId: string; result: Inspected } | undefined
  let connected = true

  const tokenFor = (sessionId: string) => seen.get(sessionId)?.token ?? tokenOf(sessionId)
  const markerOf = (sessionId: string, data: HostSessionData) => readMarker(data, tokenFor(sessionId), limiter.storeId)

  async function load(sessionId: string): Promise<Inspected> {
    const known = seen.get(sessionId)
    // Asked in the same tick as the store, so that the check costs no round trip of its own.
    const early = known && limiter.check(known.userId, known.token)
    early?.catch(() => {})
    const data = await calls.get(sessionId)
    return data ? inspect(sessionId, data, early) : {}
  }

  async function inspect(
    sessionId: string,
    data: HostSessionData,
    early?: Promise<SessionVerdict>,
  ): Promise<Inspected> {
    const token = tokenFor(sessionId)
    const marker = markerOf(sessionId, data)
    const userId = markedUser(data, token) ?? sessionUser(data)
    if (userId === undefined) return { data }
    const verdict = marker
      ? await (early ?? limiter.check(userId, token))
      : await limiter.adopt(userId, { sessionId, ttlMs: sessionTtl(data), ip: null, userAgent: null })
    if (verdict.live) {
      seen.note(sessionId, userId, token)
      return { data, session: { userId, token } }
    }
    seen.delete(sessionId)
    if (verdict.reason === 'logout_all') await limiter.invalidate(userId, sessionId)
    else await calls.destroy(sessionId)
    return { ended: verdict.reason }
  }

  async function save(sessionId: string, data: HostSessionData): Promise<void> {
    const marker = markerOf(sessionId, data)
    if (!marker) return calls.set(sessionId, data)
    if (!(await limiter.check(marker.userId, marker.token)).live) return
    await calls.set(sessionId, data)
    const stillThere = await limiter.touch(marker.userId, marker.token, sessionTtl(data))
    const known = seen.get(sessionId)
    if (known) known.touchedAt = performance.now()
    // It may have been ended while it was being written.
    if (!stillThere) await calls.destroy(sessionId)
  }

  function wasJustTouched(sessionId: string, data: HostSessionData): boolean {
    const known = seen.get(sessionId)
    return known !== undefined && performance.now() - known.touchedAt < touchInterval(data, touchEveryMs)
  }

  async function touch(sessionId: string, data: HostSessionData): Promise<void> {
    const marker = markerOf(sessionId, data)
    if (!marker) return calls.touch(sessionId, data)
    if (wasJustTouched(sessionId, data)) return
    const known = seen.get(sessionId)
    if (known) known.touchedAt = performance.now()
    await Promise.all([limiter.touch(marker.userId, marker.token, sessionTtl(data)), calls.touch(sessionId, data)])
  }

  async function destroy(sessionId: string): Promise<void> {
    const userId = seen.get(sessionId)?.userId ?? (await registeredUserInStore(sessionId))
    if (userId !== undefined) await release(sessionId, userId)
    await calls.destroy(sessionId)
  }

  async function release(sessionId: string, userId: UserId): Promise<void> {
    const token = tokenFor(sessionId)
    seen.delete(sessionId)
    await limiter.release(userId, token)
  }

  async function leave(sessionId: string, holder: UserId | undefined): Promise<void> {
    try {
      if (holder !== undefined) await release(sessionId, holder)
      await calls.destroy(sessionId)
    } catch {
      const message = 'The session that somebody left by logging in could not be ended; it expires by itself.'
      logger.warn(message, { token: tokenOf(sessionId) })
    }
  }

  async function registeredUserInStore(sessionId: string): Promise<UserId | undefined> {
    const data = await calls.get(sessionId)
    return data && markerOf(sessionId, data)?.userId
  }

  const { createSession, regenerate } = store
  let generate = store.generate

  store.get = (sessionId, callback) => {
    const loading = load(sessionId)
    if (!callback) return loading.then(({ data }) => data)
    answer(loading, (error, result) => {
      loaded = result && { sessionId, result }
      try {
        callback(error, result?.data)
      } finally {
        loaded = undefined
      }
    })
  }
  store.set = (sessionId, data, callback) => answer(save(sessionId, data), callback)
  store.destroy = (sessionId, callback) => answer(destroy(sessionId), callback)
  if (store.touch) {
    store.touch = (sessionId, data, callback) => {
      // Nearly every request ends here, so it goes without a promise.
      if (callback && wasJustTouched(sessionId, data)) return process.nextTick(callback)
      return answer(touch(sessionId, data), callback)
    }
  }
  store.createSession = (request, data) => {
    const session = createSession.call(store, request, data)
    if (loaded === undefined || loaded.sessionId !== request.sessionID) return session
    const { sessionId, result } = loaded
    states.set(request, result.session ? { session: result.session } : {})
    if (result.session && !markerOf(sessionId, data)) mark(sessionId, session, result.session)
    return session
  }
  store.regenerate = (request, callback) => {
    if (loggingIn.has(request)) {
      store.generate(request)
      return process.nextTick(callback)
    }
    const { sessionID, session } = request
    regenerate.call(store, request, (error) => {
      // A session that could not be ended is still the browser's, which must keep the cookie to try again.
      if (error) Object.assign(request, { sessionID, session })
      callback(error)
    })
  }
  // express-session assigns its generate to the store when it is set up, which may be after this.
  Object.defineProperty(store, 'generate', {
    configurable: true,
    enumerable: true,
    get: () => generateGuarded,
    set: (assigned) => {
      generate = assigned
    },
  })
  store.on?.('disconnect', () => {
    connected = false
  })
  store.on?.('connect', () => {
    connected = true
  })

  function generateGuarded(request: HostRequest): void {
    states.set(request, {})
    if (loaded && loaded.sessionId === request.sessionID && !loaded.result.data) {
      presented.set(request, loaded.sessionId)
      states.set(request, { ended: { reason: loaded.result.ended ?? 'missing' } })
    }
    generate.call(store, request)
  }

  function mark(sessionId: string, data: HostSessionData, { userId, token }: LoginSession): void {
    seen.note(sessionId, userId, token)
    writeMarker(data, { userId, token, store: limiter.storeId })
  }

  return {
    calls,
    connected: () => connected,
    stateOf: (request) => states.get(request),
    presentedId: (request) => presented.get(request),
    inspect: (sessionId, data) => inspect(sessionId, data),
    mark,
    registeredUser: (sessionId, data) => markerOf(sessionId, data)?.userId,
    async loggingIn(request, login) {
      loggingIn.add(request)
      try {
        return await login()
      } finally {
        loggingIn.delete(request)
      }
    },
    leave,
  }
}

/** Hands a promise's outcome to a callback, outside the promise: what the callback throws is its caller's affair. */
function answer<T>(outcome: Promise<T>, callback?: (error?: unknown, value?: T) => void): Promise<T> | undefined {
  if (!callback) return outcome
  outcome.then(
    (value) => process.nextTick(callback, null, value),
    (error) => process.nextTick(callback, withHttpStatus(error)),
  )
  return undefined
}
