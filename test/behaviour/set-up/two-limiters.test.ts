import { createRequire } from 'node:module'
import express from 'express'
import session from 'express-session'
import { expect, onTestFinished, test } from 'vitest'
import { type Sessmgr, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'

function makeLimiter(): Sessmgr {
  const limiter = sessmgr({ logger: { warn() {}, error() {} } })
  onTestFinished(() => limiter.close())
  return limiter
}

const sessions = (cookie: session.CookieOptions = {}, name = 'connect.sid') =>
  session({ secret: 'test', resave: false, saveUninitialized: false, cookie, name })

const show: express.ErrorRequestHandler = ({ code, message, status }, _req, res, _next) => {
  res.status(status).json({ code, message })
}

test('two sessmgr() before one route are told so from the first request on', async () => {
  const app = express()
  app.use(sessions(), makeLimiter(), makeLimiter())
  app.get('/', (_req, res) => void res.send('public page'))
  app.use(show)
  const answer = await new Browser(await listen(app)).get('/')
  expect([answer.status, answer.json()]).toEqual([
    500,
    { code: 'invalid_option', message: expect.stringMatching(/^This application mounts two limiters/) },
  ])
})

test('two of two copies of the package, one imported and one required, learn of each other', async () => {
  const copy = createRequire(import.meta.url)('../../../dist/index.cjs') as typeof import('../../../src/index.ts')
  expect(copy.sessmgr).not.toBe(sessmgr)
  const required = copy.sessmgr({ logger: { warn() {}, error() {} } })
  onTestFinished(() => required.close())
  const app = express()
  app.use(sessions(), makeLimiter(), required)
  app.use(show)
  expect((await new Browser(await listen(app)).get('/')).json()).toMatchObject({ code: 'invalid_option' })

  const sessionStore = new session.MemoryStore()
  const second = express()
  second.use(session({ secret: 'test', resave: false, saveUninitialized: false, store: sessionStore }))
  second.use('/imported', makeLimiter())
  second.use('/required', required)
  second.use((_req, res) => void res.send('a page'))
  second.use(show)
  const browser = new Browser(await listen(second))
  expect((await browser.get('/imported')).status).toBe(200)
  expect((await browser.get('/required')).json()).toMatchObject({
    message: expect.stringContaining('already guarded by another limiter'),
  })
})

test('one that stands twice is harmless, also behind a login above it', async () => {
  const limiter = makeLimiter()
  const app = express()
  app.use(sessions())
  app.get('/in', (req, _res, next) => void limiter.login(req, { id: 2 }).then(next, next))
  app.use(limiter, limiter)
  app.get('/{*any}', (req, res) => void res.json(req.sessmgr))
  app.use(show)
  const browser = new Browser(await listen(app))
  expect((await browser.get('/in')).json()).toMatchObject({ session: { userId: 2 } })
  expect((await browser.get('/me')).json()).toMatchObject({ session: { userId: 2 } })
})

test('two for sessions under two paths, of which a request has one, are no fault', async () => {
  const [shop, office] = [makeLimiter(), makeLimiter()]
  const app = express()
  app.use(sessions({ path: '/shop' }, 'shop'), shop)
  app.use('/office', sessions({ path: '/office' }, 'office'), office)
  app.get('/{*any}', (_req, res) => void res.send('a page'))
  app.use(show)
  const browser = new Browser(await listen(app))
  // The limiter in front passes on what has no session for it once it knows a session store.
  await browser.get('/shop')
  expect((await browser.get('/office')).status).toBe(200)
  expect((await browser.get('/shop')).status).toBe(200)
})
