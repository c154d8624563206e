import type { UserId } from '../host/user-id.ts'
import type { Admission, EstablishedSession } from '../limiter/admit-login.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { HostRequest, HostSessionData } from './host-types.ts'
import { sessionTtl } from './session-ttl.ts'

const USER_AGENT_LENGTH = 512

/**
 * Life of a session until its login has been answered, which saves it and gives it its full time: a login that is cut
 * off in between must not hold a slot for days.
 */
const UNCONFIRMED_MS = 120_000

/**
 * Carries one login of an express-session host through the limiter.
 *
 * `establish` does the host's part: it must leave a fresh, saved session on the request, as Passport does.
 */
export async function hostLogin(
  limiter: SessionLimiter,
  store: GuardedStore,
  request: HostRequest,
  userId: UserId,
  establish: () => Promise<void>,
): Promise<Admission> {
  const sessionId = request.sessionID ?? ''
  const before = request.session
  const holder = before && store.registeredUser(sessionId, before)
  const replaces = holder !== undefined && String(holder) === String(userId) ? sessionId : undefined

  const admit = () =>
    limiter.admit({ userId, replaces, ip: addressOf(request), userAgent: userAgentOf(request) }, async () => {
      const revert = await rememberSession(store, request)
      try {
        await establish()
      } catch (error) {
        await revert()
        throw error
      }
      return established(request, revert)
    })
  const admission = await (replaces === undefined ? admit() : store.replacing(replaces, admit))

  if (admission.admitted && request.session) {
    const { userId, token } = admission.session
    store.mark(request.sessionID ?? '', request.session, { userId, token })
    request.sessmgr = { session: { userId, token } }
  }
  return admission
}

function established(request: HostRequest, revert: () => Promise<void>): EstablishedSession {
  const { sessionID: sessionId = '', session = {} as HostSessionData } = request
  return { sessionId, ttlMs: Math.min(sessionTtl(session), UNCONFIRMED_MS), revert }
}

/** Remembers the visitor's session and returns what puts it back: a refused login leaves it as it was. */
async function rememberSession(store: GuardedStore, request: HostRequest): Promise<() => Promise<void>> {
  const { sessionID: sessionId = '', session, sessionStore } = request
  const stored = await store.calls.get(sessionId)
  const data = JSON.parse(JSON.stringify(session ?? null)) as HostSessionData | null
  return async () => {
    const refusedId = request.sessionID
    // First of all and whatever the store says: the id of the refused session must not reach the browser.
    request.sessionID = sessionId
    if (data) sessionStore?.createSession(request, data)
    if (refusedId !== undefined && refusedId !== sessionId) await store.calls.destroy(refusedId)
    if (stored) await store.calls.set(sessionId, stored)
  }
}

function addressOf(request: HostRequest): string | null {
  return request.ip ?? request.socket.remoteAddress ?? null
}

function userAgentOf(request: HostRequest): string | null {
  return request.headers['user-agent']?.slice(0, USER_AGENT_LENGTH) ?? null
}
