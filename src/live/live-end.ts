import type { SessionEnd } from '../sessions/session-end.ts'

/** Why an open connection is closed. */
export interface LiveEnd {
  /**
   * What the client should do.
   *
   * - `session_ended`: the session is over. Do not reconnect.
   * - `session_replaced`: the user has signed in again with the same browser. Reconnect.
   * - `try_again`: it could not be checked whether the session is live. Reconnect later.
   */
  readonly code: 'session_ended' | 'session_replaced' | 'try_again'
  /** What ended the session, if this process knows. */
  readonly kind?: SessionEnd['kind']
}

/** Close codes of WebSockets. Browsers pass them to `onclose`. */
export const CLOSE_CODES = { session_ended: 4401, session_replaced: 4402, try_again: 1013 } as const

export const TRY_AGAIN: LiveEnd = { code: 'try_again' }

/** Describes the end of a session. */
export function endedBy(kind: SessionEnd['kind'] | undefined): LiveEnd {
  if (kind === undefined) return { code: 'session_ended' }
  return { code: kind === 'replaced' ? 'session_replaced' : 'session_ended', kind }
}
