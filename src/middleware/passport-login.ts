import type { HostRequest, HostResponse, LimitLogin, Next } from '../guard/host-types.ts'
import { guardedRequestOf } from '../guard/request/host-visit.ts'
import { STANDING, Standing, type StandingHolder } from '../guard/request/standing.ts'
import { isPassportsCallback, keepsSessionId, type SessionManager } from './passports-own.ts'
import { type FailureOptions, isRefusal, refuseLogin } from './refuse-login.ts'
import { sharedPrototype } from './shared-prototype.ts'

interface LogInOptions extends FailureOptions {
  session?: boolean
}

type LogIn = (this: HostRequest, user: unknown, options?: LogInOptions | Next, done?: Next) => void

/** The properties that Passport assigns, and where the standing stores the functions that were assigned. */
const PROPERTIES = [
  ['logIn', 'assignedLogIn'],
  ['login', 'assignedLogin'],
] as const

type LoginRequest = HostRequest & StandingHolder & { [PREPARED]?: true }

const limited = new WeakMap<LogIn, LogIn>()

/** Marks the object that has the accessors. */
const PREPARED = Symbol('sessmgr.prepared')

/**
 * Limits `req.logIn` and `req.login`, which every Passport login uses.
 *
 * Passport assigns them when its own middleware runs, which may be before or after this one. Accessors catch both
 * cases. They are on the prototype that all requests of an Express application share, so that they cost little per
 * request. They do not affect requests that did not pass the limiter.
 *
 * @param shared The prototype, if it is not Express's own.
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
  // Usually inherited, because the first request has prepared the shared prototype.
  if (!(PREPARED in request)) prepare(shared ?? sharedPrototype(request) ?? request)
  for (const [name] of PROPERTIES) {
    if (!Object.hasOwn(request, name) || Object.hasOwn(request, PREPARED)) continue
    // Assigned before the accessor existed.
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
        const value = this[STANDING]?.[field] ?? earlier
        if (typeof value !== 'function') return value
        return limited.get(value as LogIn) ?? limitedLogIn(value as LogIn)
      },
      set(this: LoginRequest, value: unknown) {
        const standing = this[STANDING] ?? Standing.at(this)
        standing[field] = value
      },
    })
  }
}

/** Returns what Passport logs users in with. Versions before 0.5.1 do not put it on the request. */
function managerOf(request: HostRequest): SessionManager | undefined {
  const { _sessionManager, _passport } = request as { _sessionManager?: unknown; _passport?: PassportOfRequest }
  return (_sessionManager ?? _passport?.instance?._sm) as SessionManager | undefined
}

interface PassportOfRequest {
  readonly instance?: { readonly _sm?: unknown }
}

function limitedLogIn(logIn: LogIn): LogIn {
  const wrapped: LogIn = function (user, optionsOrDone, maybeDone) {
    const direct = typeof optionsOrDone === 'function'
    const done = direct ? optionsOrDone : maybeDone
    const options = direct ? {} : (optionsOrDone ?? {})
    const { limitLogin, response } = Standing.of(this) ?? {}
    // Requests that did not pass the limiter are not limited. Without a session, there is nothing to limit. Without a
    // callback, Passport throws its own error.
    const manager = managerOf(this)
    if (!limitLogin || options.session === false || !manager || typeof done !== 'function') {
      return logIn.call(this, user, optionsOrDone, maybeDone)
    }

    // koa-passport passes a response that it created for this call only.
    const shown = (this.res ?? response) as HostResponse
    const property = this._userProperty ?? 'user'
    const before = this[property]
    const carried = limitLogin({
      request: guardedRequestOf(this),
      user,
      keepsSessionId: keepsSessionId(manager),
      logIn: () =>
        new Promise<void>((resolve, reject) => {
          logIn.call(this, user, options, (error) => (error ? reject(error) : resolve()))
        }),
      forget: () => {
        this[property] = before
      },
    })
    // Runs in a separate turn, so that errors of the callback are not caught here.
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
  // Passport may read this function from one request and assign it again. Do not wrap it twice.
  limited.set(wrapped, wrapped)
  return wrapped
}
