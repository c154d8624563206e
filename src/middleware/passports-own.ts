import type { Next } from '../guard/host-types.ts'

/**
 * Tells whether passport.authenticate itself asked for a login, and not the application, whose callback must be called.
 *
 * The call looks alike in both cases: a user, the options and a callback. So the callback has to tell: Passport's is the
 * one that goes on to redirect.
 */
export function isPassportsCallback(done: Next): boolean {
  return Function.prototype.toString.call(done).includes('successReturnToOrRedirect')
}

/**
 * Tells whether @fastify/passport hangs a handler on a login, and not the application, whose handler must be called.
 *
 * Passport's is the reject function of a promise, which is the one native function without a name. What an application
 * binds has one, and so have the methods of `console`.
 */
export function isPassportsReject(handler: (error: unknown) => unknown): boolean {
  return handler.name === '' && Function.prototype.toString.call(handler).includes('[native code]')
}
