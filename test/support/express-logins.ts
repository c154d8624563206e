import type { Express, Request, RequestHandler, Response } from 'express'
import type passport from 'passport'
import type { Sessmgr } from '../../src/index.ts'
import type { Gates } from './gates.ts'
import { authenticate } from './users.ts'

/** Every way in which an application logs a user in. */
export const LOGIN_WAYS = ['redirect', 'plain', 'callback', 'logIn', 'login', 'limiter'] as const
export type LoginWay = (typeof LOGIN_WAYS)[number]

const setupOf = (express: 5 | 4, order: 'before' | 'after') => (way: LoginWay) => ({ express, order, way })
/** Every way, and with each other version and order those that reach Passport, `req.logIn` and neither. */
export const LOGIN_SETUPS = [
  ...LOGIN_WAYS.map(setupOf(5, 'before')),
  ...(['plain', 'limiter'] as const).map(setupOf(5, 'after')),
  ...(['redirect', 'logIn'] as const).map(setupOf(4, 'before')),
  ...(['plain', 'limiter'] as const).map(setupOf(4, 'after')),
]

/**
 * Adds `POST /login`, `/callback-login`, `/own-login` and `/direct-login`. `?gate=<gate>` delays the response to a
 * successful login.
 */
export function addLogins(
  app: Express,
  way: LoginWay,
  parts: {
    authentication: passport.Authenticator
    limiter: Sessmgr
    gates: Gates
    options: passport.AuthenticateOptions
  },
): void {
  const { authentication, limiter, gates, options } = parts

  const succeed = async (req: Request, res: Response) => {
    if (typeof req.query.gate === 'string') await gates.at(req.query.gate).pass()
    res.json({ signedIn: true })
  }
  const wrongPassword = (res: Response) => res.status(401).json({ code: 'wrong_password' })
  const direct =
    (method: 'logIn' | 'login'): RequestHandler =>
    (req, res, next) => {
      const user = checkPassword(req)
      if (!user) return void wrongPassword(res)
      const done = (error: unknown) => (error ? next(error) : void succeed(req, res))
      const { keepSessionInfo } = options
      if (keepSessionInfo === undefined) req[method](user, done)
      else req[method](user, { session: true, keepSessionInfo }, done)
    }

  const ways: Record<LoginWay, RequestHandler[]> = {
    redirect: [authentication.authenticate('local', { successRedirect: '/', failureRedirect: '/login', ...options })],
    plain: [authentication.authenticate('local', options), (req, res) => void succeed(req, res)],
    callback: [
      (req, res, next) => {
        const answer = (error: unknown, user?: Express.User | false) => {
          if (error) return next(error)
          if (!user) return wrongPassword(res)
          req.logIn(user, (refused) => {
            if (!refused) return void succeed(req, res)
            const { code, status } = refused as { code?: string; status?: number }
            res.status(status ?? 500).json({ givenToCallback: code })
          })
        }
        authentication.authenticate('local', options, answer)(req, res, next)
      },
    ],
    logIn: [direct('logIn')],
    login: [direct('login')],
    limiter: [
      (req, res, next) => {
        const user = checkPassword(req)
        if (!user) return void wrongPassword(res)
        limiter.login(req, user).then(() => {
          req.session.userId = user.id ?? 0
          return succeed(req, res)
        }, next)
      },
    ],
  }
  app.post('/login', ...ways[way])
  app.post('/callback-login', ...ways.callback)
  app.post('/own-login', ...ways.logIn)
  app.post('/direct-login', ...ways.limiter)
}

function checkPassword(req: Request): Express.User | undefined {
  return authenticate(String(req.body.username), String(req.body.password))
}
