import express, { type ErrorRequestHandler } from 'express'
import session from 'express-session'
import passport from 'passport'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../src/index.ts'
import { Browser } from '../support/browser.ts'
import { listen } from '../support/listen.ts'

/** Starts an application where `/in/<id>` logs a user in and `/as/<id>` puts another one into the session by hand. */
async function start() {
  const limiter = sessmgr({ settings: { maximum: 1, logic: 'block' } })
  onTestFinished(() => limiter.close())
  const authentication = new passport.Passport()
  authentication.serializeUser((user, done) => done(null, (user as { id: number }).id))
  authentication.deserializeUser((id: number, done) => done(null, { id } as Express.User))
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter, authentication.session())
  app.get('/in/:id', (req, res, next) => {
    const user = { id: Number(req.params.id) } as Express.User
    req.logIn(user, (error: unknown) => (error ? next(error) : res.send('in')))
  })
  app.get('/as/:id', (req, res, next) => {
    Object.assign(req.session, { passport: { user: Number(req.params.id) } })
    req.session.save((error) => (error ? next(error) : res.send('exchanged')))
  })
  app.get('/me', (req, res) => void res.json([req.user?.id, req.sessmgr?.session?.userId]))
  const answer: ErrorRequestHandler = (error, req, res, _next) => {
    // Nothing of it is to be saved by the answer to the failure.
    req.session.reload(() => res.status(error.status).json({ code: error.code }))
  }
  app.use(answer)
  const origin = await listen(app)
  const counts = () => Promise.all([2, 3].map((user) => limiter.sessions.count(user)))
  return { browser: () => new Browser(origin), counts }
}

test('rule 5: a user who is put into a session by hand counts, and the one who had logged in does no more', async () => {
  const { browser, counts } = await start()
  const one = browser()
  await one.get('/in/2')
  expect((await one.get('/as/3')).status).toBe(200)
  expect((await one.get('/me')).json()).toEqual([3, 3])
  expect(await counts()).toEqual([0, 1])
  expect((await browser().get('/in/3')).status).toBe(403)
})

test('rule 5: a user at the limit cannot be put into a session by hand', async () => {
  const { browser, counts } = await start()
  const [one, other] = [browser(), browser()]
  await one.get('/in/2')
  await other.get('/in/3')
  const { status, text } = await one.get('/as/3')
  expect([status, JSON.parse(text).code]).toEqual([403, 'login_limit_reached'])
  expect((await one.get('/me')).json()).toEqual([2, 2])
  expect((await other.get('/me')).json()).toEqual([3, 3])
  expect(await counts()).toEqual([1, 1])
})
