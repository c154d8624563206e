import type { HostRequest, HostResponse, Next } from '../door/host-types.ts'
import { type LimitLogin, type RequestLike, VISIT, type Visited } from '../door/request/visit.ts'
import { SessmgrError } from '../ground/errors.ts'
import { type FailureOptions, isOfPassport, isRefusal, refuseLogin } from './refusal.ts'
import type { GuardOf } from './store.ts'
import { bareVisit, sharedPrototype, visitFor } from './visit.ts'

interface LogInOptions extends FailureOptions {
  session?: boolean
}

type LogIn = (this: HostRequest, user: unknown, options?: LogInOptions | Next, done?: Next) => void

/** The properties that Passport assigns, and where the visit stores the functions that were assigned. */
const PROPERTIES = [
  ['logIn', 'assignedLogIn'],
  ['login', 'assignedLogin'],
] as const

type LoginRequest = HostRequest & Visited & { [PREPARED]?: true }

const limited = new WeakMap<LogIn, LogIn>()

/** Marks the object that has the accessors. */
const PREPARED = Symbol('sessmgr.prepared')

/**
 * Limits `req.logIn` and `req.login`, which every Passport login uses.
 *
 * Passport assigns these methods when its own middleware runs, which may be before or after this one. Accessors catch
 * both cases. They are on the prototype that all requests of an Express application share, so that they cost little per
 * request. They do not affect requests that did not pass the limiter.
 *
 * @param shared The prototype, if it is not Express's own.
 */
export function limitPassportLogins(host: HostRequest, shared?: object): void {
  const request = host as LoginRequest
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
        const value = this[VISIT]?.[field] ?? earlier
        if (typeof value !== 'function') return value
        return limited.get(value as LogIn) ?? limitedLogIn(value as LogIn)
      },
      set(this: LoginRequest, value: unknown) {
        const visit = this[VISIT] ?? bareVisit(this)
        visit[field] = value
      },
    })
  }
}

/** Passport's session manager, which logs users in. */
interface SessionManager {
  readonly logIn?: (...parameters: never[]) => void
}

/** Returns Passport's session manager. Versions before 0.5.1 do not put it on the request. */
function managerOf(request: HostRequest): SessionManager | undefined {
  const { _sessionManager, _passport } = request as {
    readonly _sessionManager?: SessionManager
    readonly _passport?: { readonly instance?: { readonly _sm?: SessionManager } }
  }
  return _sessionManager ?? _passport?.instance?._sm
}

/** Checks whether Passport is older than 0.6: it then passes no options to its session manager. */
const isOldPassport = ({ logIn }: SessionManager): boolean => logIn?.length === 3

const OLD_PASSPORT =
  'No login was started, because Passport before 0.6 keeps the session id at login and treats a refusal as a success. ' +
  'Update Passport: npm install passport@^0.7'

function limitedLogIn(logIn: LogIn): LogIn {
  const wrapped: LogIn = function (user, optionsOrDone, maybeDone) {
    const direct = typeof optionsOrDone === 'function'
    const done = direct ? optionsOrDone : maybeDone
    const options = direct ? {} : (optionsOrDone ?? {})
    const visit = (this as LoginRequest)[VISIT]
    // Requests that did not pass the limiter are not limited. Without a session, there is nothing to limit. Without a
    // callback, Passport throws its own error.
    const manager = managerOf(this)
    if (!visit?.limitLogin || options.session === false || !manager || typeof done !== 'function') {
      return logIn.call(this, user, optionsOrDone, maybeDone)
    }
    if (isOldPassport(manager)) return done(new SessmgrError('session_middleware_unsupported', OLD_PASSPORT))

    // koa-passport passes a response that it created for this call only.
    const shown = (this.res ?? visit.response) as HostResponse
    const property = this._userProperty ?? 'user'
    const before = this[property]
    const carried = visit.limitLogin({
      visit,
      user,
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
      if (isRefusal(error) && isOfPassport(direct ? undefined : optionsOrDone))
        refuseLogin(this, shown, options, error, done)
      else done(error)
    }
    carried.then(
      () => process.nextTick(done),
      (error) => process.nextTick(fail, error),
    )
  }
  limited.set(logIn, wrapped)
  // Passport may read this function from one request and assign it again, so it must not be wrapped twice.
  limited.set(wrapped, wrapped)
  return wrapped
}

/**
 * Logs a user in without Passport: creates and saves a new session, which counts toward the limit.
 *
 * @throws SessmgrError `login_limit_reached` (403) if the limit refuses the login. `login_choice_required` (409) if the
 * user has to choose. `session_ended` (401) if the request came with a session of this user that has ended since. A
 * refused login leaves the session unchanged.
 */
export function directLogin(request: RequestLike, user: unknown, limitLogin: LimitLogin): Promise<void> {
  const visit = visitFor(request)
  return limitLogin({
    visit,
    user,
    logIn: () => visit.renew(),
    save: () => visit.save(),
  })
}

/** Logs out the user of a request: ends the session, frees its slot, and continues with a new session. */
export async function directLogout(request: RequestLike, guardOf: GuardOf): Promise<void> {
  const visit = visitFor(request)
  guardOf(visit)
  await visit.renew()
}
