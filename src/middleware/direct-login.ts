import type { LimitLogin } from '../guard/host-types.ts'
import { guardedRequestOf, type RequestLike } from '../guard/request/host-visit.ts'
import type { StoreOf } from './store-of.ts'

/**
 * Logs a user in without Passport: gives the request a fresh, saved session that counts against the limit.
 *
 * @throws SessmgrError `login_limit_reached` with `status` 403 when the limit refuses the login, `session_ended` with 401
 * when the request came with a session of this user that has been ended since; the session is as it was.
 */
export function directLogin(
  message: RequestLike,
  user: unknown,
  limitLogin: LimitLogin,
  storeOf: StoreOf,
): Promise<void> {
  const request = guardedRequestOf(message)
  return limitLogin({
    request,
    user,
    logIn: () => storeOf(request).exchange(request),
    save: () =>
      new Promise((resolve, reject) => {
        request.session?.save((error) => (error ? reject(error) : resolve()))
      }),
  })
}

/** Logs the user of a request out: the session ends, its slot is free, and the request goes on with a fresh one. */
export async function directLogout(message: RequestLike, storeOf: StoreOf): Promise<void> {
  const request = guardedRequestOf(message)
  await storeOf(request).exchange(request)
}
