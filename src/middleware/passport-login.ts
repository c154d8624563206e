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

const limited = new WeakSet<LogIn>()

/**
 * Puts the limit in front of `req.logIn` and `req.login`, through which every Passport login goes.
 *
 * Passport attaches them when its own middleware runs, which may be before or after this; an accessor catches both.
 */
export function limitPassportLogins(request: HostRequest, response: HostResponse, admit: Admit): void {
  for (const name of ['logIn', 'login'] as const) {
    const wrap = (value: unknown) =>
      typeof value === 'function' ? limitedLogIn(value as LogIn, response, admit) : value
    let current = wrap(request[name])
    Object.defineProperty(request, name, {
      configurable: true,
      enumerable: true,
      get: () => current,
      set: (value) => {
        current = wrap(value)
      },
    })
  }
}

function limitedLogIn(logIn: LogIn, response: HostResponse, admit: Admit): LogIn {
  if (limited.has(logIn)) return logIn
  const wrapped: LogIn = function (user, optionsOrDone, maybeDone) {
    const direct = typeof optionsOrDone === 'function'
    const done = direct ? optionsOrDone : maybeDone
    const options = direct ? {} : (optionsOrDone ?? {})
    // Without a session there is nothing to limit; without a callback Passport itself says what is wrong.
    if (options.session === false || !this._sessionManager || typeof done !== 'function') {
      return logIn.call(this, user, optionsOrDone, maybeDone)
    }

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
        // A login that passport.authenticate started comes with that call's options; a direct req.logIn(user, done) with none.
        if (direct) settle(() => done(loginRefused(admission.message)))
        else settle(() => refuseLogin(this, response, options, admission.message, done))
      },
      (error) => {
        this[property] = before
        settle(() => done(withHttpStatus(error)))
      },
    )
  }
  limited.add(wrapped)
  return wrapped
}
