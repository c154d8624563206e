import { Strategy } from 'passport-local'
import { authenticate } from './users.ts'

/** Creates the login method of Passport that asks for the name and the password of a test's user. */
export function passwordStrategy(): Strategy {
  return new Strategy((login, password, done) => {
    done(null, authenticate(login, password) ?? false, { message: 'Wrong user name or password.' })
  })
}
