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

/**
 * Checks whether the handler is Passport's own. If it is the application's, it must be called.
 *
 * Passport's handler is the reject function of a promise, which is the only native function without a name. Bound
 * functions and methods of `console` have names.
 */
export function isPassportsReject(handler: (error: unknown) => unknown): boolean {
  return handler.name === '' && Function.prototype.toString.call(handler).includes('[native code]')
}
