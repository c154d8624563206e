import type { LoginSession } from '../guard-context.ts'
import type { GuardedRequest, SignedOutReason } from '../host-types.ts'
import type { Inspected } from '../inspect-session.ts'
import type { HostedStore } from '../session-exchange.ts'
import { Standing } from './standing.ts'

/**
 * Finds out what became of the session that a request was loaded with, where that was past the guard.
 *
 * Resolves true when it is over: the host must put an empty one in its place.
 *
 * @param lost Why the session that the browser has named is over, if it has named one that was not loaded.
 */
export async function judgeSession(
  store: HostedStore,
  request: GuardedRequest,
  lost?: SignedOutReason,
): Promise<boolean> {
  const { session, sessionID = '' } = request
  const found: Inspected = session ? await store.guard.inspect(sessionID, session) : {}
  const reason = found.ended ?? lost
  request.sessmgr = reason ? { ended: { reason } } : {}
  if (found.session) goOnWith(store, request, found.session, found.needsMarker)
  return found.ended !== undefined
}

/** Has a request go on with the login session that it was loaded with. */
export function goOnWith(store: HostedStore, request: GuardedRequest, login: LoginSession, needsMarker = false): void {
  const { session, sessionID = '' } = request
  if (!session) return
  if (needsMarker) store.guard.mark(sessionID, session, login)
  store.guard.noteOrigin(Standing.at(request), session, login)
  store.attend?.(session)
  request.sessmgr = { session: login }
}
