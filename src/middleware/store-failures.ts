import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { HostRequest, HostResponse, HostSessionData } from '../guard/host-types.ts'
import { isVisitors } from '../guard/load.ts'
import { type Visit, visitOf } from '../guard/request/visit.ts'
import type { SessionGuard } from '../guard/session-guard.ts'
import { isOfSessionStore } from '../guard/stores/store-error.ts'
import { isRefusal } from './refusal.ts'

/** How often to check whether a response has been handed to its socket. */
const CHECK_EVERY_MS = 20
/** How long to wait for the end of a response that can only be recognized once it has ended. */
const LONGEST_RESPONSE_MS = 600_000
/** Node's channel for responses over HTTP/1 that have ended. */
const RESPONSE_FINISHED = 'http.server.response.finish'
/** Represents an unknown response: when destroying a session fails, express-session has already sent the headers. */
const SENT = { headersSent: true }

type Callback = (error?: unknown) => void

/**
 * Handles the failures of a session store.
 *
 * express-session saves a session while it ends the response, and passes an error to `next` before the last byte.
 * Express then destroys the socket, and with it any part of the response not yet sent. So failures after the headers
 * are only logged. If the session holds no login, the application receives the store's own error, as it would without
 * sessmgr, but only after the response has ended.
 *
 * Nothing here runs unless a call has failed.
 */
export class StoreFailures {
  readonly #guard: SessionGuard

  constructor(guard: SessionGuard) {
    this.#guard = guard
  }

  /** Handles a failed write of a session. */
  ofSave(error: unknown, sessionId: string, data: HostSessionData, done: Callback): void {
    if (this.ofVisitor(error, sessionId, data, done)) return
    const response = visitOf(data.req as HostRequest | undefined)?.response
    const isTooLate = response?.headersSent === true && isRefusal(error)
    if (isTooLate && error.code === 'login_limit_reached') this.#guard.warnings.noteLateRefusal()
    const isNoted = this.#guard.logUnsaved(sessionId, error, response) || (isTooLate && error.code === 'session_ended')
    process.nextTick(done, isNoted ? null : error)
  }

  /**
   * Handles a failed write or touch of a session without a login. Returns false, and does nothing, if the session holds
   * a login or the error is not from the session store.
   */
  readonly ofVisitor = (error: unknown, sessionId: string, data: HostSessionData, done: Callback): boolean => {
    if (!isOfSessionStore(error) || this.#holdsLogin(sessionId, data)) return false
    const visit = visitOf(data.req as HostRequest | undefined)
    const response = visit?.response
    if (response?.headersSent) passOnAfter(response, visit, error, done)
    else process.nextTick(done, error)
    return true
  }

  /** Handles a failed destruction of a session. `visit` is the request that destroyed it, if known. */
  ofDestroy(error: unknown, sessionId: string, done: Callback, visit: Visit | undefined): void {
    // The guard remembers only destroyed sessions that held a login.
    const isVisitor = isOfSessionStore(error) && !this.#guard.destroyed.get(sessionId)
    // With `unset: 'destroy'`, express-session does not reveal the request.
    const isHidden = visit === undefined
    if (isHidden && isVisitor && endsResponse(done)) return this.#passOnHidden(error, sessionId, done)
    const isAtEnd = isHidden && !isVisitor && done.name === 'ondestroy'
    process.nextTick(done, isAtEnd && this.#guard.logUnsaved(sessionId, error, SENT) ? null : error)
  }

  /** Passes an error on to an unknown request, which is recognized once Node reports the end of its response. */
  #passOnHidden(error: unknown, sessionId: string, done: Callback): void {
    const stop = () => {
      clearTimeout(timer)
      unsubscribe(RESPONSE_FINISHED, noteFinished)
    }
    const log = () => {
      stop()
      this.#guard.logUnsaved(sessionId, error, SENT)
    }
    const timer = setTimeout(log, LONGEST_RESPONSE_MS).unref()
    function noteFinished(message: unknown): void {
      const { request } = message as { request: HostRequest }
      if (request.sessionID !== sessionId || request.session) return
      // The request was on a route before sessmgr.
      const visit = visitOf(request)
      if (!visit?.passed) return log()
      const next = takeNext(visit)
      if (!next) return
      stop()
      process.nextTick(next, error)
    }
    subscribe(RESPONSE_FINISHED, noteFinished)
    process.nextTick(done, null)
  }

  /** Checks whether a session belongs to a login, belonged to one when its request began, or soon will. */
  #holdsLogin(sessionId: string, data: HostSessionData): boolean {
    const { login, state, sessmgr } = visitOf(data.req as HostRequest | undefined) ?? {}
    if (login || (state ?? sessmgr)?.session || this.#guard.seen.get(sessionId)) return true
    return !isVisitors(this.#guard, data)
  }
}

function passOnAfter(response: HostResponse, visit: Visit | undefined, error: unknown, done: Callback): void {
  const next = endsResponse(done) ? takeNext(visit) : undefined
  if (!next) return callWhenSent(response, () => done(error))
  // Importing it would delay the start of every application.
  const { finished } = process.getBuiltinModule('node:stream')
  finished(response, () => process.nextTick(next, error))
  process.nextTick(done, null)
}

/**
 * Checks whether express-session ends the response in this callback. Its name proves nothing, because an application's
 * callback may have the same name.
 */
function endsResponse(callback: Callback): boolean {
  return /\bwriteend\d*\(\)/.test(String(callback))
}

/** Returns the function that continues a request, but only once, so that no error arrives twice. */
function takeNext(visit: Visit | undefined): Callback | undefined {
  const next = visit?.next
  if (visit) visit.next = undefined
  return next
}

/**
 * Calls back once all that was written of a response has been handed to its socket. There is no event for it: `drain`
 * follows only large writes.
 */
function callWhenSent(response: HostResponse, done: () => void): void {
  // While a response is corked, the application itself holds it back, and may be waiting for this callback.
  const isWaiting = !response.destroyed && !response.writableCorked && response.writableLength > 0
  if (isWaiting) setTimeout(callWhenSent, CHECK_EVERY_MS, response, done)
  else process.nextTick(done)
}
