import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express'
import session from 'express-session'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { createAuthentication } from '../../support/create-authentication.ts'
import { listen } from '../../support/listen.ts'

test('a refused login that a time-out has answered meanwhile goes to the error handler, and ends no process', async () => {
  const limiter = sessmgr({ settings: { maximum: 1, logic: 'block' } })
  onTestFinished(() => limiter.close())
  const authentication = createAuthentication()
  const responses: Response[] = []
  const codes: unknown[] = []
  const app = express()
  app.use((_req, res, next) => {
    responses.push(res)
    next()
  })
  app.use(express.urlencoded({ extended: false }))
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.use(authentication.session() as RequestHandler)
  app.post('/login', authentication.authenticate('local'), (_req, res) => void res.sendStatus(200))
  const told = new Promise<void>((resolve) => {
    const note: ErrorRequestHandler = (error, _req, _res, _next) => {
      codes.push(error.code)
      resolve()
    }
    app.use(note)
  })
  limiter.hooks.addFilter('sessmgr_error_message', 'test', async (message) => {
    responses.at(-1)?.status(503).send('too slow')
    return message
  })
  const origin = await listen(app)

  const asJson = { accept: 'application/json' }
  const form = { username: 'alice', password: 'secret' }
  expect((await new Browser(origin).post('/login', form, asJson)).status).toBe(200)
  expect((await new Browser(origin).post('/login', form, asJson)).status).toBe(503)
  await told
  expect(codes).toEqual(['login_limit_reached'])
})
