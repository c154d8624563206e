import type { UserId } from '../../ground/user-id.ts'
import type { Admission, EstablishedSession } from '../../limiter/admit-login.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { HostRequest, HostSessionData } from '../host-types.ts'
import type { GuardedStore } from '../session-guards.ts'
import { sessionTtl } from '../session-ttl.ts'
import { clientDetails } from './client-details.ts'

/**
 * Life of a session until its login has been answered, which saves it and gives it its full time: a login that is cut
 * off in between must not hold a slot for days.
 */
const UNCONFIRMED_MS = 120_000

/**
 * Carries one login of an express-session host through the limiter.
 *
 * `establish` does the host's part: it must leave a fresh, saved session on the request, as Passport does.
 *
 * @throws SessmgrError `session_ended` when the request was loaded with a session of this user that is over by now.
 */
export function hostLogin(
  limiter: SessionLimiter,
  store: GuardedStore,
  request: HostRequest,
  userId: UserId,
  establish: () => Promise<void>,
  blockedMessage: () => string,
): Promise<Admission> {
  return store.guard.logins.inTurn(request, () =>
    loginInTurn(limiter, store, request, userId, establish, blockedMessage),
  )
}

async function loginInTurn(
  limiter: SessionLimiter,
  store: GuardedStore,
  request: HostRequest,
  userId: UserId,
  establish: () => Promise<void>,
  blockedMessage: () => string,
): Promise<Admission> {
  await store.guard.marks.ready()
  const sessionId = request.sessionID ?? ''
  const before = request.session
  const holder = before && store.guard.markerOf(sessionId, before)?.userId
  const replaces = holder !== undefined && String(holder) === String(userId) ? sessionId : undefined

  const client = clientDetails(request.ip ?? request.socket.remoteAddress, request.headers['user-agent'])
  const continues = await store.guard.continuedBy(request, userId)
  const attempt = { userId, replaces, continues, ...client, blockedMessage }
  const admission = await store.guard.logins.run(request, { userId, sessionId }, () =>
    limiter.admit(attempt, async () => {
      const revert = rememberSession(store, request)
      try {
        await establish()
      } catch (error) {
        await revert()
        throw error
      }
      if (request.sessionID === sessionId && request._sessionManager) store.guard.warnings.noteOldPassport()
      return established(request, revert)
    }),
  )

  if (admission.admitted && request.session) {
    const { userId, token } = admission.session
    store.guard.mark(request.sessionID ?? '', request.session, { userId, token })
    store.guard.warnings.compareUsers(request.session, userId)
    if (replaces !== undefined && before?.passport && !request.session.passport) store.guard.warnings.noteLostPassport()
    store.guard.noteOrigin(request, request.session, { userId, token })
    store.attend?.(request, request.session)
    request.sessmgr = { session: { userId, token } }
    // The limiter has ended the session that this login replaces; any other one was kept for the case of a refusal.
    if (request.sessionID !== sessionId && replaces === undefined) await store.guard.leave(sessionId, holder, request)
  }
  return admission
}

function established(request: HostRequest, revert: () => Promise<void>): EstablishedSession {
  const { sessionID: sessionId = '', session = {} as HostSessionData } = request
  return { sessionId, ttlMs: Math.min(sessionTtl(session), UNCONFIRMED_MS), revert }
}

/** Remembers the visitor's session and returns what puts it back: a refused login leaves it as it was. */
function rememberSession(store: GuardedStore, request: HostRequest): () => Promise<void> {
  const { sessionID: sessionId = '', session, sessionStore } = request
  const data = JSON.parse(JSON.stringify(session ?? null)) as HostSessionData | null
  return async () => {
    const refusedId = request.sessionID
    // First of all and whatever the store says: the id of the refused session must not reach the browser.
    request.sessionID = sessionId
    if (data) await sessionStore?.createSession(request, data)
    if (refusedId !== undefined && refusedId !== sessionId) await store.calls.destroy(refusedId)
    // A host that logs in without a new session has written the user into the visitor's.
    else if (data) await store.calls.set(sessionId, data)
  }
}
