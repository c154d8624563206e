import express, { type Express, type RequestHandler } from 'express'
import session, { MemoryStore } from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'

/** The parts of an application, for tests that combine them in unusual ways. */
export interface Parts {
  readonly app: Express
  readonly store: MemoryStore
  readonly session: RequestHandler
  readonly limiter: Sessmgr
  readonly passportSession: RequestHandler
  /** Signs in the named user with Passport, and redirects. */
  readonly login: RequestHandler
  readonly me: RequestHandler
}

/** Creates the parts of an application that accepts every password. User ids are the names. */
export function parts(options: SessmgrOptions = {}, cookie: session.CookieOptions = {}): Parts {
  const { Passport } = passport as unknown as { Passport: new () => passport.Authenticator }
  const authentication = new Passport()
  authentication.use(new Strategy((id, _password, done) => done(null, { id } as never)))
  authentication.serializeUser((user, done) => done(null, user.id))
  authentication.deserializeUser((id, done) => done(null, { id } as never))
  const store = new MemoryStore()
  const authenticate = authentication.authenticate('local')
  return {
    app: express(),
    store,
    session: session({ store, secret: 'test', resave: false, saveUninitialized: false, cookie }),
    limiter: sessmgr(options),
    passportSession: authentication.session() as RequestHandler,
    login: (req, res, next) => {
      req.body = { username: req.query.user ?? 'alice', password: 'any' }
      authenticate(req, res, (error?: unknown) => (error ? next(error) : res.sendStatus(204)))
    },
    me: (req, res) => void res.sendStatus(req.user ? 200 : 401),
  }
}
