import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import type { User as SiteUser, Users } from './users.ts'

declare global {
  namespace Express {
    interface User {
      id: number
      login: string
      email: string
      displayName: string
      role: SiteUser['role']
    }
  }
}

/** Sets up Passport for the demo's users. */
export function createAuthentication(users: Users): passport.Authenticator {
  const authentication = new passport.Passport()
  authentication.use(
    new LocalStrategy((name, password, done) => {
      users.authenticate(name, password).then(
        (user) => (user ? done(null, user) : done(null, false)),
        (error) => done(error),
      )
    }),
  )
  authentication.serializeUser((user, done) => done(null, (user as SiteUser).id))
  authentication.deserializeUser((id: number, done) => done(null, users.findById(id) ?? false))
  return authentication
}
