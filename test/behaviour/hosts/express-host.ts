import flash from 'connect-flash'
import express5, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import session, { Store } from 'express-session'
import express4 from 'express4'
import type passport from 'passport'
import { onTestFinished } from 'vitest'
import type { Sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { createAuthentication } from '../../support/create-authentication.ts'
import { Gates } from '../../support/gates.ts'
import { listen } from '../../support/listen.ts'
import { recordActions } from '../../support/record-actions.ts'
import { authenticate } from '../../support/users.ts'
import { createLimiter, FORTNIGHT, type HostSetup, type HostUnderTest } from './host-under-test.ts'

/** What only Express has: two versions of it, and further routes. */
export interface ExpressSetup extends HostSetup {
  readonly express?: 4 | 5
  readonly further?: (parts: { app: Express; limiter: Sessmgr }) => unknown
}

/** Starts an application on Express, express-session and Passport. */
export async function startExpressHost(setup: ExpressSetup): Promise<HostUnderTest> {
  const { order = 'before', sessions } = setup
  const limiter = createLimiter(setup.sessmgr)
  const gates = new Gates()
  const store = setup.store ?? Object.assign(Reflect.construct(Store, []), sessions.forCallbacks())
  const authentication = createAuthentication()

  const express = setup.express === 4 ? express4 : express5
  const app = express()
  app.set('env', 'test')
  const cookie = { maxAge: FORTNIGHT }
  const options = { secret: 'test', resave: false, saveUninitialized: false, cookie, ...setup.session }
  app.use(session({ ...options, store: store as session.Store }))
  const stack = [...(setup.unlimited ? [] : [limiter]), authentication.session() as RequestHandler]
  app.use(...(order === 'before' ? stack : stack.reverse()))
  app.use(flash())
  if (!setup.unlimited) app.use('/api', limiter.router()).use('/admin', limiter.admin())
  app.use((req, _res, next) => {
    void gates.at(String(req.query.arrival)).pass()
    next()
  })
  app.use(express.urlencoded({ extended: false }))

  const userIn = (req: Request) => authenticate(String(req.body.username), String(req.body.password))
  app.get('/', (_req, res) => void res.send('public page'))
  app.get('/login', (_req, res) => void res.send('login form'))
  app.get('/me', (req, res) => {
    const id = req.user?.id ?? req.session.userId
    res.status(id === undefined ? 401 : 200).json({ id })
  })
  app.get('/state', (req, res) => void res.json(req.sessmgr ?? null))
  app.get('/cart', (req, res) => void res.json(req.session.cart ?? []))
  app.post('/cart', (req, res) => {
    req.session.cart = [...(req.session.cart ?? []), String(req.body.item)]
    res.sendStatus(204)
  })
  app.get('/messages', (req, res) => void res.json({ messages: req.session.messages ?? [], flash: req.flash() }))
  app.get('/nonce', async (req, res) => void res.send((await limiter.nonce(req)) ?? ''))
  const succeed = async (req: Request, res: Response) => {
    await gates.at(String(req.query.gate ?? 'open')).pass()
    res.json({ signedIn: true })
  }
  app.post('/login', authentication.authenticate('local', setup.authenticate ?? {}), succeed)
  app.post('/callback-login', (req, res, next) => {
    const callback: passport.AuthenticateCallback = (_error, user) => {
      req.logIn(user as Express.User, (error) => (error ? next(error) : void succeed(req, res)))
    }
    authentication.authenticate('local', callback)(req, res, next)
  })
  app.post('/own-login', (req, res, next) => {
    req.logIn(userIn(req) as Express.User, (error) => (error ? next(error) : void succeed(req, res)))
  })
  app.post('/direct-login', async (req, res) => {
    await limiter.login(req, userIn(req))
    req.session.userId = userIn(req)?.id ?? 0
    await succeed(req, res)
  })
  app.post('/direct-logout', async (req, res) => {
    await limiter.logout(req)
    res.sendStatus(204)
  })
  app.post('/logout', (req, res, next) => req.logout((error) => (error ? next(error) : res.sendStatus(204))))
  app.post('/destroy', (req, res, next) => {
    req.session.destroy((error) => (error ? next(error) : res.sendStatus(204)))
  })
  app.post('/rotate', async (req, res, next) => {
    const before = { ...req.session }
    await gates.at(String(req.query.gate ?? 'open')).pass()
    req.session.regenerate((error) => {
      if (error) return next(error)
      const { cookie: _, ...kept } = before
      Object.assign(req.session, kept, { held: 'rotated' })
      res.sendStatus(204)
    })
  })
  app.post('/hold/:gate', async (req, res) => {
    if (req.query.write === 'early') req.session.held = 'early'
    await gates.at(req.params.gate).pass()
    if (req.query.write !== 'early') req.session.held = 'late'
    if (req.query.write === 'save') {
      await new Promise<void>((resolve, reject) => {
        req.session.save((error) => (error ? reject(error) : resolve()))
      })
    }
    res.sendStatus(204)
  })
  setup.further?.({ app, limiter })
  const errors: unknown[] = []
  const noteError: ErrorRequestHandler = (error, _req, _res, next) => {
    errors.push(error)
    next(error)
  }
  app.use(noteError)
  gates.at('open').open()

  const origin = await listen(app)
  onTestFinished(() => limiter.close())
  return {
    origin,
    limiter,
    gates,
    sessions,
    errors,
    actions: recordActions(limiter.hooks),
    browser: () => new Browser(origin),
    sessionIdOf: (browser) => browser.sessionId(),
  }
}
