import { errorText } from '../ground/error-text.ts'
import { warn } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import { tokenOf } from '../sessions/token.ts'
import { GuardContext, type LoginSession } from './guard-context.ts'
import type { HostSessionData } from './host-types.ts'
import { type Inspected, inspectSession } from './inspect-session.ts'
import { type Loaded, loadSession, type ReadSession } from './load-session.ts'
import { Standing } from './request/standing.ts'
import { saveSession } from './save-session.ts'
import { expiryOf, sessionTtl, touchInterval } from './session-ttl.ts'
import { promised, StoreCall } from './stores/store-calls.ts'

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
  load(sessionId: string, read?: ReadSession): Promise<Inspected> {
    return new Promise((resolve, reject) => {
      const done: Loaded = (error, result = {}) => (error ? reject(error) : resolve(result))
      loadSession(this, sessionId, done, read)
    })
  }

  /** Checks a session that was read without the guard. If it is over, removes it from the store. */
  inspect(sessionId: string, data: HostSessionData): Promise<Inspected> {
    return inspectSession(this, sessionId, data, this.seen.get(sessionId))
  }

  /** Writes a session, unless it has ended in the meantime; see {@link saveSession}. */
  readonly save = saveSession.bind(undefined, this)

  /** Checks whether recording the use of a session can wait, both in the registry and in the store. */
  canWait(sessionId: string, data: HostSessionData): boolean {
    // Without an expiry in the cookie, only the store knows how long a session lasts, so every use must reach the
    // store.
    return Boolean(expiryOf(data)) && this.seen.isFresh(sessionId, data)
  }

  /** Records the use of a session, and then calls `done`. Usually creates no promise. */
  noteUse(sessionId: string, data: HostSessionData, done: () => void): void {
    const { touch } = this.calls
    if (!this.seen.isFresh(sessionId, data)) this.touch(sessionId, data, false).then(() => process.nextTick(done))
    else if (expiryOf(data) || !touch) process.nextTick(done)
    else touch(sessionId, data, new UseNote(this, sessionId, done))
  }

  /** Records the use of a session. Failures are only logged, because the response has already been sent. */
  async touch(sessionId: string, data: HostSessionData, isFresh = this.seen.isFresh(sessionId, data)): Promise<void> {
    try {
      await (isFresh ? this.#touchInStore(sessionId, data) : this.#touchEverywhere(sessionId, data))
    } catch (error) {
      this.logUnnoted(sessionId, error)
    }
  }

  logUnnoted(sessionId: string, error: unknown): void {
    const details = { token: this.tokenFor(sessionId), error: errorText(error, sessionId) }
    const message = 'The last use of a session could not be saved, so the session may expire early.'
    warn(this.options.logger, 'a-store-call-failed', message, details)
  }

  #touchInStore(sessionId: string, data: HostSessionData): Promise<void> | undefined {
    const { touch } = this.calls
    return touch && promised<void>((call) => touch(sessionId, data, call))
  }

  async #touchEverywhere(sessionId: string, data: HostSessionData): Promise<void> {
    const marker = this.marks.read(data, this.tokenFor(sessionId))
    if (!marker) return this.#touchInStore(sessionId, data)
    const { userId, token } = marker
    const interval = touchInterval(data, this.options.touchEveryMs)
    this.seen.noteTouch(sessionId, data, interval)
    const registered = this.limiter.touch(userId, token, sessionTtl(data), interval / 2)
    await Promise.all([registered, this.#touchInStore(sessionId, data)])
    if ((await registered) || (await this.marks.hasChanged())) return
    // Either the record expired before the session did, or the session has just ended. In both cases, the session no
    // longer counts, so it must not continue.
    this.seen.delete(sessionId)
    await this.calls.destroy(sessionId)
  }

  /** Destroys a session and frees its slot. `request` is the request that destroys it, if known. */
  async destroy(sessionId: string, request?: object): Promise<void> {
    const token = this.tokenFor(sessionId)
    const wasLive = this.#free(sessionId)
    Standing.of(request)?.giveUp(token, wasLive)
    await wasLive
    await this.calls.destroy(sessionId)
  }

  /** Frees the slot of a session, if it has one. Resolves to true if the session was live until then. */
  async #free(sessionId: string): Promise<boolean> {
    const userId = this.seen.get(sessionId)?.userId ?? (await this.#registeredUserInStore(sessionId))
    return userId !== undefined && this.release(sessionId, userId)
  }

  async #registeredUserInStore(sessionId: string): Promise<UserId | undefined> {
    const data = await this.calls.get(sessionId)
    if (!data) return undefined
    await this.prepare(data, tokenOf(sessionId))
    return this.markerOf(sessionId, data)?.userId
  }

  /**
   * Ends the browser's previous session after a login. `holder` is the user who was signed in with it, if any. Failures
   * are only logged.
   */
  async leave(sessionId: string, holder: UserId | undefined, request: object): Promise<void> {
    try {
      if (holder !== undefined) await this.giveUp(sessionId, holder, request)
      await this.calls.destroy(sessionId)
    } catch (error) {
      const details = { token: tokenOf(sessionId), error: errorText(error, sessionId) }
      const message = "A visitor's session could not be ended at login. It stays until it expires."
      warn(this.options.logger, 'a-store-call-failed', message, details)
    }
  }

  /** Records that a request was loaded with a login session, or received one by a login. */
  noteOrigin(standing: Standing, data: HostSessionData, { userId, token }: LoginSession): void {
    standing.noteOrigin(userId, token, this.options.sessionUser(data) !== undefined)
  }
}
