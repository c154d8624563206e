import type { GuardedRequest } from '../host-types.ts'

type LogIn = (user: unknown, done: (error?: unknown) => void) => void

/** Returns the login function of Passport on a request. Returns undefined if the application does not use Passport. */
export function passportOf(request: GuardedRequest): GuardedRequest['passportLogin'] {
  const { logIn, passportLogin } = request
  if (typeof logIn !== 'function') return passportLogin
  return (user) =>
    new Promise((resolve, reject) => {
      ;(logIn as LogIn).call(request, user, (error) => (error ? reject(error) : resolve()))
    })
}
