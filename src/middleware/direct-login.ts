import { SessmgrError } from '../ground/errors.ts'
import type { HostRequest, HostStore } from '../guard/host-types.ts'
import { hostRequestOf, type RequestLike } from '../guard/request/host-visit.ts'
import type { Admit } from './passport-login.ts'
import { loginRefused } from './refuse-login.ts'

/**
 * Logs a user in without Passport: gives the request a fresh, saved session that counts against the limit.
 *
 * @throws SessmgrError `login_limit_reached` with `status` 403 when the limit refuses the login, `session_ended` with 401
 * when the request came with a session of this user that has been ended since; the session is as it was.
 */
export async function directLogin(message: RequestLike, user: unknown, admit: Admit): Promise<void> {
  const request = hostRequestOf(message)
  const establish = async () => {
    await regenerate(request)
    // A session that the store does not hold yet would be taken for lost by the next login of this user.
    await new Promise<void>((resolve, reject) => {
      request.session?.save((error) => (error ? reject(error) : resolve()))
    })
  }
  const admission = await admit(request, user, establish)
  if (!admission.admitted) throw loginRefused(admission.message)
}

/** Logs the user of a request out: the session ends, its slot is free, and the request goes on with a fresh one. */
export async function directLogout(message: RequestLike): Promise<void> {
  await regenerate(hostRequestOf(message))
}

/** Finds the session store of a request, or says what to add. */
export function requireStore(request: HostRequest): HostStore {
  const { sessionStore, session, sessionID } = request
  // Where the session's cookie does not reach, @fastify/session leaves an empty object.
  if (sessionStore && sessionID !== undefined && typeof session?.regenerate === 'function') return sessionStore
  throw new SessmgrError(
    'session_middleware_missing',
    'There is no session on this request, or it has been ended. Add the sessions and sessmgr before the route that ' +
      "logs people in, and put that below the path of the session's cookie.",
  )
}

function regenerate(request: HostRequest): Promise<void> {
  requireStore(request)
  if (request.renewSession) return request.renewSession()
  return new Promise((resolve, reject) => {
    request.session?.regenerate((error) => (error ? reject(error) : resolve()))
  })
}
