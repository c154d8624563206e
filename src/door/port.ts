import type { IncomingMessage } from 'node:http'
import { PendingCall } from '../ground/call-deadline.ts'
import type { CookieScope, HostResponse, HostSessionData, RequestState } from './host-types.ts'

/**
 * What a framework must offer for each request. What a login, a check and an end need besides is in this folder, once for
 * all frameworks; docs/architecture.md shows how to add one. `Visit` has a default for the members from `save` on.
 */
export interface RequestPort {
  /** Node's request: its headers and its connection. */
  readonly raw: IncomingMessage
  /** The address of the client, as the framework finds it behind proxies. */
  readonly ip: string | undefined
  /**
   * The session of the request. Its data may be read and changed. Undefined, or an empty object that was never stored, if
   * the request has none.
   */
  readonly session: HostSessionData | undefined
  /** The raw id of that session. */
  readonly sessionID: string | undefined
  /** The state of the session, as the application sees it. */
  sessmgr: RequestState | undefined
  /** Logs in with Passport. Undefined if the application does not use it. */
  readonly passportLogin: ((user: unknown) => Promise<void>) | undefined
  /** Replaces the session with an empty one. Deletes the old one from its store, unless `login` is set on the visit. */
  renew(): Promise<void>
  /**
   * Restores the visitor's session after a refused login: the request has this id again, and `data`, a copy as from JSON,
   * or no session if that is null. Writes nothing, because the session is still in its store.
   */
  restore(sessionId: string, data: HostSessionData | null): Promise<void>
  /** Writes the session to its store. @default calls `session.save` with a callback */
  save(): Promise<void>
  /** The request as the framework passes it to the application. @default Node's request */
  readonly own: object
  /** Node's response, if known. It gets sessmgr's own cookies until its headers are sent. */
  readonly response: HostResponse | undefined
  /**
   * The session's data, with the expiry that the framework last stored. Differs from `session` in frameworks that keep the
   * expiry elsewhere. @default the session
   */
  readonly stored: HostSessionData | undefined
  /** Where the session cookie applies. @default as in `session.cookie` */
  readonly cookieScope: CookieScope
  /** Changes the object of a session that was paired or found live, before the application uses it. @default nothing */
  attend(session: HostSessionData): void
}

/**
 * What a framework must offer for its session store. The methods fail with the store's own errors.
 *
 * `request` is the visit that a call belongs to, if known, for stores that receive the request.
 */
export interface SessionPort {
  readonly health: StoreHealth
  /**
   * Reads a session. `from` is the same store on another connection, which is sessmgr's own: it has the deadline of
   * sessmgr's store.
   */
  read(sessionId: string, call: StoreCall<HostSessionData | undefined>, from?: object): void
  get(sessionId: string, request?: object): Promise<HostSessionData | undefined>
  set(sessionId: string, data: HostSessionData, request?: object): Promise<void>
  /** Like `set`, but without a promise. Undefined if the store's methods return promises. */
  write?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
  /** Deletes a session. Must not fail for an unknown id. */
  destroy(sessionId: string, request?: object): Promise<void>
  /** Records the use of a session. Undefined if the store has no such method. */
  touch?: ((sessionId: string, data: HostSessionData, call: StoreCall) => void) | undefined
}

/**
 * A call to a session store. Its methods must not throw, because a store may mistake an exception for its own failure.
 */
export abstract class StoreCall<T = void> extends PendingCall {
  /** Called with the result, at most once. */
  abstract answer(value: T): void
}

/** A session store that has answered none of its waiting calls for this long is doubtful. */
const SILENT_MS = 200

/** How a session store has answered lately. It has no deadline of ours: a store that waits for a lock is not broken. */
export class StoreHealth {
  #waiting = 0
  #hasFailed = false
  /** When the oldest waiting call began, or a later call was answered last. */
  #silentSince = 0

  begun(): void {
    if (this.#waiting === 0) this.#silentSince = performance.now()
    this.#waiting += 1
  }

  answered(hasFailed: boolean): void {
    this.#waiting -= 1
    this.#hasFailed = hasFailed
    this.#silentSince = performance.now()
  }

  /** Whether the store may be down, because its last call failed or it has not answered for a while. */
  get isDoubtful(): boolean {
    return this.#hasFailed || (this.#waiting > 0 && performance.now() - this.#silentSince > SILENT_MS)
  }
}
