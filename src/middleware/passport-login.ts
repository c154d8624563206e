import type { Admission } from '../limiter/admit-login.ts'
import type { HostRequest, HostResponse, Next } from './host-types.ts'
import { withHttpStatus } from './http-error.ts'
import { type FailureOptions, loginRefused, refuseLogin } from './refuse-login.ts'

interface LogInOptions extends FailureOptions {
  session?: boolean
}

type LogIn = (this: HostRequest, user: unknown, options?: LogInOptions | Next, done?: Next) => void

/** Admits a user once the host's own login has run. */
export type Admit = (request: HostRequest, user: unknown, establish: () => Promise<void>) => Promise<Admission>

const NAMES = ['logIn', 'login'] as const

/** What a login needs to know of its request, once that has passed the guard. */
const LOGIN = Symbol('sessmgr.login')
const assigned = { logIn: Symbol('sessmgr.logIn'), login: Symbol('sessmgr.login') }

type LoginRequest = HostRequest & { [key: symbol]: unknown }

const limited = new WeakMap<LogIn, LogIn>()

/** Made once: a request gets these two descriptors and no closures of its own. */
const accessors = Object.fromEntries(NAMES.map((name) => [name, accessor(assigned[name])]))

/**
 * Puts the limit in front of `req.logIn` and `req.login`, through which every Passport login goes.
 *
 * Passport assigns them when its own middleware runs, which may be before or after this; an accessor catches both. It
 * stands on the request itself, because Express exchanges a request's prototype on its way through sub-applications.
 */
export function limitPassportLogins(host: HostRequest, response: HostResponse, admit: Admit): void {
  const request = host as LoginRequest
  request[LOGIN] = { response, admit }
  for (const name of NAMES) request[assigned[name]] = request[name]
  Object.defineProperties(request, accessors)
}

function accessor(key: symbol): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: true,
    get(this: LoginRequest) {
      const value = this[key]
      return typeof value === 'function' ? limitedLogIn(value as LogIn) : value
    },
    set(this: LoginRequest, value: unknown) {
      this[key] = value
    },
  }
}

function limitedLogIn(logIn: LogIn): LogIn {
  const known = limited.get(logIn)
  if (known) return known
  const wrapped: LogIn = function (user, optionsOrDone, maybeDone) {
    const direct = typeof optionsOrDone === 'function'
    const done = direct ? optionsOrDone : maybeDone
    const options = direct ? {} : (optionsOrDone ?? {})
    // Without a session there is nothing to limit; without a callback Passport itself says what is wrong.
    if (options.session === false || !this._sessionManager || typeof done !== 'function') {
      return logIn.call(this, user, optionsOrDone, maybeDone)
    }

    const { response, admit } = (this as LoginRequest)[LOGIN] as { response: HostResponse; admit: Admit }
    const property = this._userProperty ?? 'user'
    const before = this[property]
    const establish = () =>
      new Promise<void>((resolve, reject) => {
        logIn.call(this, user, options, (error) => (error ? reject(error) : resolve()))
      })
    const settle = (answer: () => void) => process.nextTick(answer)
    admit(this, user, establish).then(
      (admission) => {
        if (admission.admitted) return settle(() => done())
        this[property] = before
        if (isPassportsOwn(done)) settle(() => refuseLogin(this, response, options, admission.message, done))
        else settle(() => done(loginRefused(admission.message)))
      },
      (error) => {
        this[property] = before
        settle(() => done(withHttpStatus(error)))
      },
    )
  }
  limited.set(logIn, wrapped)
  // What Passport reads from one request and assigns again must not be wrapped twice.
  limited.set(wrapped, wrapped)
  return wrapped
}

/**
 * Tells whether passport.authenticate itself asked for a login, and not the application, whose callback must be called.
 *
 * The options look alike in both cases, so the callback has to tell: Passport's is the one that goes on to redirect.
 */
function isPassportsOwn(done: Next): boolean {
  return Function.prototype.toString.call(done).includes('successReturnToOrRedirect')
}
