import type { GuardedRequest, HostSession, HostSessionData } from './host-types.ts'
import type { SessionGuard } from './session-guard.ts'

/** How a framework exchanges the sessions of its requests. */
export interface SessionExchange {
  /**
   * Replaces the session of a request with an empty one. The old session is given up, unless a login is in progress.
   */
  exchange(request: GuardedRequest): Promise<void>
  /** Restores the visitor's session after a refused login. `data` is a copy of it, or null if there was no session. */
  putBack(request: GuardedRequest, sessionId: string, data: HostSessionData | null): Promise<void>
  /** Prepares a session to be given up, in frameworks that do not pass the request to the store. */
  attend?(session: HostSession): void
}

/** A guarded store, and how its framework exchanges sessions. */
export interface HostedStore extends SessionExchange {
  readonly guard: SessionGuard
}
