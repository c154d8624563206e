import { IncomingMessage } from 'node:http'
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

const prepared = new WeakSet<object>()
const limited = new WeakMap<LogIn, LogIn>()

/**
 * Puts the limit in front of `req.logIn` and `req.login`, through which every Passport login goes.
 *
 * Passport assigns them when its own middleware runs, which may be before or after this; an accessor catches both. It
 * stands on the prototype that the application gives its requests, so that a request costs next to nothing.
 */
export function limitPassportLogins(host: HostRequest, response: HostResponse, admit: Admit): void {
  const request = host as LoginRequest
  request[LOGIN] = { response, admit }
  const prototype: object = Object.getPrototypeOf(request)
  // Without Express all requests of the process share Node's own prototype, which is not ours to change.
  prepare(prototype === IncomingMessage.prototype ? request : prototype)
  for (const name of NAMES) {
    if (prepared.has(request) || !Object.hasOwn(request, name)) continue
    const value = request[name]
    delete request[name]
    request[name] = value
  }
}

function prepare(target: object): void {
  if (prepared.has(target)) return
  prepared.add(target)
  for (const name of NAMES) {
    const earlier = (target as Record<string, unknown>)[name]
    Object.defineProperty(target, name, {
      configurable: true,
      enumerable: true,
      get(this: LoginRequest) {
        const value = this[assigned[name]] ?? earlier
        return this[LOGIN] !== undefined && typeof value === 'function' ? limitedLogIn(value as LogIn) : value
      },
      set(this: LoginRequest, value: unknown) {
        this[assigned[name]] = value
      },
    })
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
  limited.set(logIn, wrapped)
  // What Passport reads from one request and assigns again must not be wrapped twice.
  limited.set(wrapped, wrapped)
  return wrapped
}
