import type { HostRequest, HostResponse, LimitLogin, Next } from '../guard/host-types.ts'
import { guardedRequestOf } from '../guard/request/host-visit.ts'
import { Standing } from '../guard/request/standing.ts'
import { isPassportsCallback } from './passports-own.ts'
import { type FailureOptions, isRefusal, refuseLogin } from './refuse-login.ts'
import { sharedPrototype } from './shared-prototype.ts'

interface LogInOptions extends FailureOptions {
  session?: boolean
}

type LogIn = (this: HostRequest, user: unknown, options?: LogInOptions | Next, done?: Next) => void

/** The properties that Passport assigns, and where the standing of a request keeps what it has assigned. */
const PROPERTIES = [
  ['logIn', 'assignedLogIn'],
  ['login', 'assignedLogin'],
] as const

type LoginRequest = HostRequest & { [key: symbol]: unknown }

const limited = new WeakMap<LogIn, LogIn>()

/** Marks what has the accessors. Requests without a prototype of their own have them themselves. */
const PREPARED = Symbol('sessmgr.prepared')

/**
 * Puts the limit in front of `req.logIn` and `req.login`, through which every Passport login goes.
 *
 * Passport assigns them when its own middleware runs, which may be before or after this; an accessor catches both. It
 * stands on the prototype that all requests of an Express share, so that a request costs next to nothing, and is of no
 * effect on a request that did not come by here.
 *
 * @param shared The prototype, where it is another than that of Express.
 */
export function limitPassportLogins(
  host: HostRequest,
  response: HostResponse,
  limitLogin: LimitLogin,
  standing: Standing,
  shared?: object,
): void {
  const request = host as LoginRequest
  standing.limitLogin = limitLogin
  standing.response = response
  // Inherited as a rule: the first request has prepared the prototype of all.
  if (!(PREPARED in request)) prepare(shared ?? sharedPrototype(request) ?? request)
  for (const [name] of PROPERTIES) {
    if (!Object.hasOwn(request, name) || Object.hasOwn(request, PREPARED)) continue
    // Assigned before there was an accessor to catch it.
    const value = request[name]
    delete request[name]
    request[name] = value
  }
}

function prepare(holder: object): void {
  ;(holder as LoginRequest)[PREPARED] = true
  for (const [name, field] of PROPERTIES) {
    const earlier = (holder as Record<string, unknown>)[name]
    Object.defineProperty(holder, name, {
      configurable: true,
      enumerable: true,
      get(this: LoginRequest) {
        const value = Standing.of(this)?.[field] ?? earlier
        if (typeof value !== 'function') return value
        return limited.get(value as LogIn) ?? limitedLogIn(value as LogIn)
      },
      set(this: LoginRequest, value: unknown) {
        Standing.at(this)[field] = value
      },
    })
  }
}

function limitedLogIn(logIn: LogIn): LogIn {
  const wrapped: LogIn = function (user, optionsOrDone, maybeDone) {
    const direct = typeof optionsOrDone === 'function'
    const done = direct ? optionsOrDone : maybeDone
    const options = direct ? {} : (optionsOrDone ?? {})
    const { limitLogin, response } = Standing.of(this) ?? {}
    // Nor is a request limited that has not come by here. Without a session there is nothing to limit; without a callback
    // Passport itself says what is wrong.
    if (!limitLogin || options.session === false || !this._sessionManager || typeof done !== 'function') {
      return logIn.call(this, user, optionsOrDone, maybeDone)
    }

    // koa-passport shows Passport a response that is made for one call.
    const shown = (this.res ?? response) as HostResponse
    const property = this._userProperty ?? 'user'
    const before = this[property]
    const carried = limitLogin({
      request: guardedRequestOf(this),
      user,
      logIn: () =>
        new Promise<void>((resolve, reject) => {
          logIn.call(this, user, options, (error) => (error ? reject(error) : resolve()))
        }),
      forget: () => {
        this[property] = before
      },
    })
    // In a turn of its own: what the callback throws must not come back here.
    const fail = (error: unknown) => {
      if (isRefusal(error) && isPassportsCallback(done)) refuseLogin(this, shown, options, error, done)
      else done(error)
    }
    carried.then(
      () => process.nextTick(done),
      (error) => process.nextTick(fail, error),
    )
  }
  limited.set(logIn, wrapped)
  // What Passport reads from one request and assigns again must not be wrapped twice.
  limited.set(wrapped, wrapped)
  return wrapped
}
