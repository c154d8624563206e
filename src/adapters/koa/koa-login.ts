import type { HostRequest, LimitLogin } from '../../guard/host-types.ts'
import { limitPassportLogins } from '../../middleware/passport-login.ts'
import type { KoaVisit } from './koa-visit.ts'

type LogIn = (user: unknown, options?: { session?: boolean }) => Promise<void>

/**
 * Limits every koa-passport login.
 *
 * koa-passport creates Passport's requests from Koa's, and assigns `logIn` to each. An accessor on the prototype of
 * Koa's requests intercepts the assignment. Functions that were assigned to the context earlier are wrapped.
 */
export function limitKoaLogins(visit: KoaVisit, limitLogin: LimitLogin): void {
  const { context } = visit
  visit.standFor(context.request)
  limitPassportLogins(context.request as HostRequest, context.res, limitLogin, visit, context.app.request)

  for (const name of ['logIn', 'login']) {
    const logIn = context[name] as LogIn | undefined
    if (typeof logIn === 'function') context[name] = limitedLogIn(visit, logIn, limitLogin)
  }
}

function limitedLogIn(visit: KoaVisit, logIn: LogIn, limitLogin: LimitLogin): LogIn {
  return (user, options) => {
    const { state } = visit.context
    const before = { ...state }
    const forget = () => {
      for (const key of Object.keys(state)) if (!(key in before)) delete state[key]
      Object.assign(state, before)
    }
    return limitLogin({ request: visit, user, options, logIn: () => logIn(user, options), forget })
  }
}
