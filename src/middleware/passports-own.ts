import type { Next } from '../guard/host-types.ts'

/**
 * Checks whether a login was started by passport.authenticate. If the application started it, its callback must be
 * called.
 *
 * Both calls pass a user, options and a callback. Only Passport's callback contains code that redirects.
 */
export function isPassportsCallback(done: Next): boolean {
  return Function.prototype.toString.call(done).includes('successReturnToOrRedirect')
}

/** What Passport logs users in with. */
export interface SessionManager {
  readonly _serializeUser?: unknown
  logIn(request: object, user: unknown, options: unknown, done: unknown): void
}

const keeping = new WeakMap<SessionManager, boolean>()

/**
 * Checks whether Passport keeps the session id at login, as versions before 0.6 do.
 *
 * A login in an imaginary session shows this. It reaches neither the application's `serializeUser` nor any store.
 */
export function keepsSessionId(manager: SessionManager | undefined): boolean {
  // Applications may replace the manager by their own.
  if (typeof manager?._serializeUser !== 'function') return false
  const known = keeping.get(manager)
  if (known !== undefined) return known
  // The application may have replaced the method, which sees no difference from a login. With Passport 0.6 or newer, the
  // replacement is not called.
  const methods = new Set([Object.getPrototypeOf(manager).logIn ?? manager.logIn, manager.logIn])
  const keeps = [...methods].every((logIn) => keepsIdBy(manager, logIn))
  keeping.set(manager, keeps)
  return keeps
}

function keepsIdBy(manager: SessionManager, logIn: SessionManager['logIn']): boolean {
  let keeps = true
  const regenerate = () => {
    keeps = false
  }
  const rehearsal = Object.create(manager, { _serializeUser: { value() {} } }) as SessionManager
  const call = async () => logIn.call(rehearsal, { session: { regenerate } }, {}, {}, () => {})
  // A method of the application may need a real request.
  call().catch(() => {})
  return keeps
}

/**
 * Checks whether the handler is Passport's own. If it is the application's, it must be called.
 *
 * Passport's handler is the reject function of a promise, which is the only native function without a name. Bound
 * functions and methods of `console` have names.
 */
export function isPassportsReject(handler: (error: unknown) => unknown): boolean {
  return handler.name === '' && Function.prototype.toString.call(handler).includes('[native code]')
}
