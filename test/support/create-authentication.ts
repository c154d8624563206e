import passport from 'passport'
import { passwordStrategy } from './password-strategy.ts'
import { findUserById } from './users.ts'

/** Creates a separate Passport that knows the users of the tests. */
export function createAuthentication(): passport.Authenticator {
  const authentication = new passport.Passport()
  authentication.use(passwordStrategy())
  authentication.serializeUser((user, done) => done(null, user.id))
  authentication.deserializeUser((id: number, done) => done(null, findUserById(id) ?? false))
  return authentication
}
