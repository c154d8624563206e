import type { GuardedRequest, HostSession, HostSessionData } from './host-types.ts'
import type { SessionGuard } from './session-guard.ts'

/** How one kind of host exchanges the sessions of its requests. */
export interface SessionExchange {
  /** Gives a request an empty session of another id. The one that it had is given up, unless a login is under way. */
  exchange(request: GuardedRequest): Promise<void>
  /** Puts the session back with which a refused login began. `data`: a copy, null where there was no session. */
  putBack(request: GuardedRequest, sessionId: string, data: HostSessionData | null): Promise<void>
  /** Stands by for a request to give up its login session, where the store alone is not told of the request. */
  attend?(session: HostSession): void
}

/** A guarded store, and how its host exchanges sessions. */
export interface HostedStore extends SessionExchange {
  readonly guard: SessionGuard
}
