import type { GuardedRequest, HostSession, HostSessionData } from './host-types.ts'
import type { SessionGuard } from './session-guard.ts'

/** How a framework exchanges the sessions of its requests. */
export interface SessionExchange {
  /** Whether a new session is written even if its marker is hidden from the start. @default false */
  readonly hidesMarkers?: boolean
  /**
   * Replaces the session of a request with an empty one. The old session is given up, unless a login is in progress.
   */
  exchange(request: GuardedRequest): Promise<void>
  /** Restores the visitor's session after a refused login. `data` is a copy of it, or null if there was no session. */
  putBack(request: GuardedRequest, sessionId: string, data: HostSessionData | null): Promise<void>
  /** Called with a session that was marked or found live, before the application uses it. */
  attend?(session: HostSession): void
}

/** A guarded store, and how its framework exchanges sessions. */
export interface HostedStore extends SessionExchange {
  readonly guard: SessionGuard
}
