import type { Next } from '../guard/host-types.ts'

/**
 * Checks whether the login was started by passport.authenticate, not by the application, whose callback must be called.
 *
 * Both calls have a user, options and a callback. Only Passport's callback contains code that redirects.
 */
export function isPassportsCallback(done: Next): boolean {
  return Function.prototype.toString.call(done).includes('successReturnToOrRedirect')
}

/**
 * Checks whether the handler is Passport's own, not the application's, which must be called.
 *
 * Passport's handler is the reject function of a promise, the only native function without a name. Bound functions and
 * methods of `console` have names.
 */
export function isPassportsReject(handler: (error: unknown) => unknown): boolean {
  return handler.name === '' && Function.prototype.toString.call(handler).includes('[native code]')
}
