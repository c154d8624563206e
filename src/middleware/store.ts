import type { HostRequest, HostSessionData, HostStore } from '../door/host-types.ts'
import { type Inspected, loadSession } from '../door/load.ts'
import { cookiesOf, VISIT, type Visit, type Visited, visitOf } from '../door/request/visit.ts'
import type { GuardedVisit, SessionGuard, SessionGuards } from '../door/session-guard.ts'
import { answerCallback, storeCalls } from '../door/stores/store-calls.ts'
import { warnOfLateRefusal } from '../door/warnings.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import { SessmgrError } from '../ground/errors.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { holdLogins } from './hold-answer.ts'
import { isRefusal } from './refusal.ts'
import { beginVisit, endingVisit, leavingVisit, whileLeaving } from './visit.ts'

/** Sessions that could not be read, by raw id: why, and when by `performance.now()`. */
type Unread = BoundedMap<string, { readonly error: unknown; readonly at: number }>

/** The express-session stores that one limiter guards. */
export class ExpressStores {
  readonly limiter: SessionLimiter
  readonly #guards: SessionGuards
  readonly #stores = new Map<HostStore, SessionGuard>()
  /** Whether any request has passed the guard. */
  isInUse = false
  /** Whether any request had its session when it passed the guard, so the session middleware comes first. */
  isInOrder = false
  /** Whether the application has named its session store, so that logins count on requests that do not pass sessmgr. */
  readonly isNamed: boolean

  /** @param named The session store that the application has named, if any. */
  constructor(guards: SessionGuards, named?: HostStore) {
    this.#guards = guards
    this.limiter = guards.limiter
    // Stores of other frameworks are guarded by their adapters.
    this.isNamed = typeof named?.createSession === 'function'
    if (named && this.isNamed) this.of(named)
  }

  /**
   * Returns the guarded store, installing the guard if needed.
   *
   * @throws SessmgrError `invalid_option` if another limiter guards it.
   */
  of(store: HostStore): SessionGuard {
    const known = this.#stores.get(store)
    if (known) return known
    const guard = this.#guards.of(store, storeCalls)
    guard.isNamed = this.isNamed
    const unread: Unread = new BoundedMap(10_000)
    guardReads(store, guard, unread)
    guardWrites(store, guard, unread)
    this.#stores.set(store, guard)
    return guard
  }
}

/**
 * Installs the guard in the store's methods that read and create sessions. It is in the store object itself, because
 * express-session keeps a reference to it.
 *
 * Reads report an ended session as missing. Writes skip a session that has ended since it was read, so that a slow
 * request cannot bring it back. Destroying a session frees its slot.
 */
function guardReads(store: HostStore, guard: SessionGuard, unread: Unread): void {
  // Passes the result from store.get to createSession or generate. express-session calls one of them synchronously in
  // its callback.
  let loaded: Inspected | undefined
  let loadedId: string | undefined
  const { createSession, regenerate } = store
  let generate = store.generate

  store.get = (sessionId, callback) => {
    if (!callback) return guard.load(sessionId).then(({ data }) => data)
    loadSession(guard, sessionId, guard.calls.read, (error, result) => {
      loaded = result
      loadedId = sessionId
      if (error) unread.set(sessionId, { error, at: performance.now() })
      else if (unread.size > 0) unread.delete(sessionId)
      try {
        callback(error, result?.data)
      } finally {
        loaded = undefined
      }
    })
  }
  store.createSession = (request: HostRequest & Visited, data) => {
    const visit = request[VISIT] ?? beginVisit(request)
    const session = createSession.call(store, request, data)
    // Comparing the data is faster than reading the id of the request.
    if (!loaded || loadedId === undefined || loaded.data !== data) return session
    const { session: login, needsPair } = loaded
    visit.state = login ? { session: login } : {}
    beginNamed(visit, guard)
    if (!login) return session
    if (needsPair) guard.pair(loadedId, session, login)
    visit.noteOrigin(login.userId, login.token, guard.options.sessionUser(session) !== undefined)
    visit.attend(session)
    return session
  }
  store.regenerate = (request: HostRequest & Visited, callback) => {
    if (request[VISIT]?.login) {
      store.generate(request)
      return process.nextTick(callback)
    }
    regenerateGuarded(request, callback)
  }
  // express-session assigns its own generate to the store during setup, which may happen after this.
  Object.defineProperty(store, 'generate', {
    configurable: true,
    enumerable: true,
    get: () => generateGuarded,
    set: (assigned) => {
      generate = assigned
    },
  })

  function regenerateGuarded(request: HostRequest, callback: (error?: unknown) => void): void {
    const { sessionID, session } = request
    const answer = (error?: unknown) => {
      // If a session could not be ended, the browser must keep its cookie so that the user can try again.
      if (error) Object.assign(request, { sessionID, session })
      else if (request.sessmgr?.session) request.sessmgr = {}
      callback(error)
    }
    whileLeaving((request as Visited)[VISIT], () => regenerate.call(store, request, answer))
  }

  function generateGuarded(request: HostRequest & Visited): void {
    const visit = request[VISIT] ?? beginVisit(request)
    const isLost = loaded !== undefined && loadedId === request.sessionID && !loaded.data
    visit.state = isLost ? { ended: loaded?.ended ?? { reason: 'missing' } } : {}
    visit.presentedId = isLost ? loadedId : undefined
    generate.call(store, request)
    beginNamed(visit, guard)
    if (!visit.login) visit.begunId = request.sessionID
  }
}

/** How long a session that could not be read cannot be destroyed either, in milliseconds. */
const UNREAD_MS = 5000

/** Installs the guard in the methods that write, use and destroy sessions. */
function guardWrites(store: HostStore, guard: SessionGuard, unread: Unread): void {
  store.set = (sessionId, data, callback) => {
    // Sessions of express-session refer to their request.
    const request = data.req as (HostRequest & Visited) | undefined
    const saved = guard.save(sessionId, data, request && (request[VISIT] ?? beginVisit(request)))
    return answerCallback(saved, callback, lateFailure(guard, sessionId, data))
  }
  store.destroy = (sessionId, callback) => {
    const visit = leavingVisit()
    // With `unset: 'destroy'`, express-session destroys a session that could not be read. An outage signs nobody out.
    const { at = Number.NEGATIVE_INFINITY, error } = (!visit && unread.get(sessionId)) || {}
    const isUnread = performance.now() - at < UNREAD_MS
    const destroyed = isUnread ? Promise.reject(error) : guard.destroy(sessionId, visit)
    return answerCallback(destroyed, callback, lateFailure(guard, sessionId))
  }
  if (store.touch) {
    store.touch = (sessionId: string, data: HostSessionData, callback) => {
      if (!callback) return guard.touch(sessionId, data)
      learnRolling(guard, sessionId, data)
      // The response must not wait for an outage, and a use is soon recorded again.
      if (guard.areStoresAway || endingVisit()?.isNoUse) return process.nextTick(callback)
      guard.noteUse(sessionId, data, callback, undefined, lateFailure(guard, sessionId, data, true))
    }
  }
}

/**
 * Returns a function for a failure of a call that express-session makes as a response ends. Passed on at once, the error
 * would reach Express before the last byte, which would then cut the response off. So a failure for a login session is
 * only logged, and an error for a visitor's session reaches the application once the response has ended.
 *
 * Returns undefined for any other call, whose failure the application receives.
 */
function lateFailure(guard: SessionGuard, sessionId: string, data?: HostSessionData, isUse = false) {
  const visit = endingVisit()
  if (!visit) return undefined
  return (error: unknown, done: (error?: unknown) => void) => {
    const isOurs = error instanceof SessmgrError && error.code !== 'store_unavailable'
    if (isOurs && !isRefusal(error)) return process.nextTick(done, error)
    if (isRefusal(error)) {
      if (error.code === 'login_limit_reached') warnOfLateRefusal(guard.options.logger)
    } else if (!holdsLogin(guard, visit, sessionId, data)) passOnLater(visit, error)
    else if (isUse) guard.logUnnoted(sessionId, error)
    else guard.logUnsaved(sessionId, error)
    process.nextTick(done, null)
  }
}

/** Checks whether a session belongs to a login, or belonged to one when its request began. */
function holdsLogin(guard: SessionGuard, visit: Visit, sessionId: string, data: HostSessionData = {}): boolean {
  if ((visit.state ?? visit.sessmgr)?.session || guard.seen.get(sessionId) || guard.destroyed.get(sessionId))
    return true
  return !guard.isVisitors(data)
}

/** Passes an error on to the application once the response has ended, but only one error for each request. */
function passOnLater(visit: Visit, error: unknown): void {
  const { next, response } = visit
  visit.next = undefined
  // Importing it would delay the start of every application.
  const { finished } = process.getBuiltinModule('node:stream')
  if (next && response) finished(response, () => process.nextTick(next, error))
}

/** Finds out from the response to an unchanged session whether express-session sends its cookie again, as `rolling` does. */
function learnRolling({ lives, seen }: SessionGuard, sessionId: string, { req }: HostSessionData): void {
  if (lives.isRolling !== undefined) return
  const response = visitOf(req as HostRequest | undefined)?.response
  if (!response || !seen.get(sessionId)) return
  response.once('finish', () => {
    if (lives.isRolling !== undefined) return
    lives.isRolling = cookiesOf(response).some((cookie) => cookie.includes(encodeURIComponent(sessionId)))
    // What was recorded so far does not last as long as these cookies.
    if (lives.isRolling) seen.forgetUses()
  })
}

/** Prepares a request that need not pass sessmgr, because the application has named its session store. */
function beginNamed(visit: Visit, guard: SessionGuard): void {
  if (!guard.isNamed) return
  // The session middleware comes after sessmgr.
  if (visit.passed) visit.sessmgr ??= visit.state
  const { response } = visit
  if (response) holdLogins(visit, response, guard)
}

/** Returns the guard of a request's session. */
export type GuardOf = (visit: Visit) => SessionGuard

/**
 * Returns the function that looks up the guard of a request's session, in any framework.
 *
 * The lookup throws a SessmgrError with `session_middleware_missing`, or with `invalid_option` if another limiter
 * guards the session.
 */
export function createGuardOf(expressStores: ExpressStores): GuardOf {
  return (visit) => {
    const { guard, session, sessionID } = visit as GuardedVisit
    if (guard && guard.limiter !== expressStores.limiter) throw anotherLimiter()
    if (guard && session) return guard
    const { sessionStore } = visit.raw as HostRequest
    // If the session cookie does not apply to the path, @fastify/session sets an empty object.
    const isOfExpress = sessionStore && sessionID !== undefined && typeof session?.regenerate === 'function'
    if (isOfExpress && !guard) return expressStores.of(sessionStore)
    throw new SessmgrError(
      'session_middleware_missing',
      'This request has no session, or it has ended. Mount the session middleware before sessmgr, and the login ' +
        "route after both, under the path of the session's cookie: app.use(session({ store, secret, resave: false, " +
        'saveUninitialized: false })). In Fastify and Koa, add fastifySessmgr or koaSessmgr.',
    )
  }
}

function anotherLimiter(): SessmgrError {
  const advice = 'Call the limiter that this request passed, or use only one limiter'
  return invalidOption(`This request's session is already guarded by another limiter. ${advice}`)
}
