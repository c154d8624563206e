import { Strategy } from 'passport-local'
import { authenticate } from './users.ts'

/** Creates the Passport strategy that checks name and password of a test user. */
export function passwordStrategy(): Strategy {
  return new Strategy((login, password, done) => {
    done(null, authenticate(login, password) ?? false, { message: 'Wrong user name or password.' })
  })
}
