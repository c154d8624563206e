import express, { type RequestHandler } from 'express'
import session, { type Store } from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { answerBench } from './answer-bench.ts'

const LIFE_MS = 2 * 24 * 60 * 60_000

/** What an application of the benchmark has of its own. */
export interface AppParts {
  readonly store: Store
  /** The middleware before Passport's. */
  readonly limiter?: RequestHandler | undefined
  /** The middleware behind Passport's. */
  readonly check?: RequestHandler | undefined
  /** Notes a login. */
  readonly noteLogin?: ((userId: string, sessionId: string) => Promise<unknown>) | undefined
  /** Further numbers that the benchmark asks for. */
  readonly numbers?: Readonly<Record<string, () => number>>
}

/** Serves an application with Passport. */
export function serveApp({ store, limiter, check, noteLogin, numbers = {} }: AppParts): void {
  passport.use(new Strategy((username, _password, done) => done(null, { id: username })))
  passport.serializeUser((user, done) => done(null, (user as { id: string }).id))
  passport.deserializeUser((id: string, done) => done(null, { id }))

  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.use(
    session({
      store,
      secret: 'a secret of the benchmark',
      resave: false,
      saveUninitialized: false,
      cookie: { maxAge: LIFE_MS },
    }),
  )
  if (limiter) app.use(limiter)
  app.use(passport.session())
  if (check) app.use(check)
  app.post(
    '/login',
    express.urlencoded({ extended: false }),
    passport.authenticate('local'),
    async ({ user, sessionID }, res) => {
      await noteLogin?.((user as { id: string }).id, sessionID)
      res.sendStatus(204)
    },
  )
  app.get('/me', (req, res) => {
    if (req.user) res.json(req.user)
    else res.sendStatus(401)
  })
  answerBench(app.listen(0, '127.0.0.1'), numbers)
}
