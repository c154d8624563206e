import type { HostRequest, LimitLogin } from '../guard/host-types.ts'
import { guardedRequestOf, visitOf } from '../guard/request/host-visit.ts'
import { Standing } from '../guard/request/standing.ts'
import type { Token } from '../sessions/token.ts'
import { directLogin } from './direct-login.ts'
import type { StoreOf } from './store-of.ts'

/** A login whose user has chosen which sessions to end. */
export interface ContinuedLogin {
  readonly request: HostRequest
  readonly user: unknown
  /** The sessions that end if the login is admitted. */
  readonly chosen: readonly Token[]
  /** Signs the user in, if the application does so itself. */
  readonly complete?: (() => Promise<void>) | undefined
}

/**
 * Signs in the user of a pending login: through the application, through Passport, or without either.
 *
 * @throws SessmgrError `login_choice_required` if more sessions must now end; no other pending login was opened.
 */
export type ContinueLogin = (login: ContinuedLogin) => Promise<void>

/** Creates the function that continues pending logins, in any framework. */
export function createContinueLogin(limitLogin: LimitLogin, storeOf: StoreOf): ContinueLogin {
  return async ({ request, user, chosen, complete }) => {
    const standing = Standing.at(guardedRequestOf(request))
    standing.chosen = chosen
    try {
      await (complete?.() ?? passportLogin(request, user) ?? directLogin(request, user, limitLogin, storeOf))
    } finally {
      standing.chosen = undefined
    }
  }
}

/** Logs in with the framework's Passport. Returns undefined if the application does not use it. */
function passportLogin(request: HostRequest, user: unknown): Promise<void> | undefined {
  const visit = visitOf(request)
  if (visit) return visit.passportLogin?.(user)
  const logIn = request.logIn as ((user: unknown, done: (error?: unknown) => void) => void) | undefined
  if (typeof logIn !== 'function') return undefined
  return new Promise((resolve, reject) => {
    logIn.call(request, user, (error) => (error ? reject(error) : resolve()))
  })
}
