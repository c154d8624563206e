import type { LimitLogin } from '../guard/host-types.ts'
import { guardedRequestOf, type RequestLike } from '../guard/request/host-visit.ts'
import type { StoreOf } from './store-of.ts'

/**
 * Logs a user in without Passport: creates and saves a new session, which counts towards the limit.
 *
 * @throws SessmgrError `login_limit_reached` (403) if the limit refuses the login. `login_choice_required` (409) if the
 * user has to choose. `session_ended` (401) if the request came with a session of this user that has ended since. In all
 * cases, the session is unchanged.
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

/** Logs out the user of a request: ends the session, frees its slot, and continues with a new session. */
export async function directLogout(message: RequestLike, storeOf: StoreOf): Promise<void> {
  const request = guardedRequestOf(message)
  await storeOf(request).exchange(request)
}
