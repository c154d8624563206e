import type { HostRequest } from '../../door/host-types.ts'
import { type LimitLogin, visitOf } from '../../door/request/visit.ts'
import { limitPassportLogins } from '../../middleware/login.ts'
import type { KoaApplication, KoaSessionContext } from './koa-types.ts'
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
  visit.limitLogin = limitLogin
  limitPassportLogins(context.request as HostRequest, context.app.request)

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
    return limitLogin({ visit, user, options, logIn: () => logIn(user, options), forget })
  }
}

type Method = (...given: unknown[]) => unknown

/** The two names under which koa-passport assigns its logout to each context. */
const LOGOUTS = ['logout', 'logOut']

/**
 * Delays the response until `ctx.logout()` has finished, even if the application does not await it.
 *
 * koa-passport assigns `logout` to every context, before or after sessmgr runs. Accessors on `app.context` catch both
 * cases, and also cover a logout that the application itself adds to `app.context`.
 */
export function keepLogouts({ context: shared }: KoaApplication): void {
  for (const name of LOGOUTS) {
    const own = Object.getOwnPropertyDescriptor(shared, name)
    if (own && (!own.configurable || !('value' in own))) continue
    let inherited = (shared as { [name]?: unknown })[name]
    Object.defineProperty(shared, name, {
      configurable: true,
      enumerable: own?.enumerable ?? true,
      get(this: KoaSessionContext) {
        return this === shared || typeof inherited !== 'function' ? inherited : define(this, name, inherited)
      },
      set(this: KoaSessionContext, value: unknown) {
        if (this === shared) inherited = value
        else define(this, name, value)
      },
    })
  }
}

/** Defines a property of one context. If its value is a function, the response waits for its calls. */
function define(context: KoaSessionContext, name: string, given: unknown): unknown {
  const value = typeof given === 'function' ? kept(context, given as Method) : given
  Object.defineProperty(context, name, { value, configurable: true, writable: true, enumerable: true })
  return value
}

function kept(context: KoaSessionContext, call: Method): Method {
  return function (this: unknown, ...given) {
    const outcome = call.apply(this, given)
    const visit = visitOf(context.req) as KoaVisit | undefined
    return visit ? visit.calls.keep(outcome) : outcome
  }
}
