import type { LoginSession } from '../guard-context.ts'
import type { EndedState, GuardedRequest } from '../host-types.ts'
import type { Inspected } from '../inspect-session.ts'
import type { HostedStore } from '../session-exchange.ts'
import { Standing } from './standing.ts'

/**
 * Checks the session of a request that was loaded without the guard.
 *
 * Resolves to true if it is over. The framework must then replace it with an empty one.
 *
 * @param lost How the browser's session ended, if it sent a session id that was not loaded.
 */
export async function judgeSession(store: HostedStore, request: GuardedRequest, lost?: EndedState): Promise<boolean> {
  const { session, sessionID = '' } = request
  const found: Inspected = session ? await store.guard.inspect(sessionID, session, request) : {}
  const ended = found.ended ?? lost
  request.sessmgr = ended ? { ended } : {}
  if (found.session) goOnWith(store, request, found.session, found.needsMarker)
  return found.ended !== undefined
}

/** Attaches the login session that was loaded to its request, and marks it if needed. */
export function goOnWith(store: HostedStore, request: GuardedRequest, login: LoginSession, needsMarker = false): void {
  const { session, sessionID = '' } = request
  if (!session) return
  if (needsMarker) store.guard.mark(sessionID, session, login)
  store.guard.noteOrigin(Standing.at(request), session, login)
  store.attend?.(session)
  request.sessmgr = { session: login }
}
