import type { GuardedRequest, SignedOutReason } from '../host-types.ts'
import type { Inspected } from '../inspected.ts'
import type { HostedStore } from '../session-exchange.ts'
import type { LoginSession } from '../session-guard.ts'

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
  if (found.session) goOnWith(store, request, found.session)
  return found.ended !== undefined
}

/** Has a request go on with a login session: the one that it was loaded with, or one that it has got by a login. */
export function goOnWith({ guard, attend }: HostedStore, request: GuardedRequest, login: LoginSession): void {
  const { session, sessionID = '' } = request
  if (!session) return
  if (guard.markerOf(sessionID, session)?.userId !== login.userId) guard.mark(sessionID, session, login)
  guard.noteOrigin(request, session, login)
  attend?.(request, session)
  request.sessmgr = { session: login }
}
