import express from 'express'
import session from 'express-session'
import { expect, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'

/** An application with the route that docs/sign-out.md shows without Passport. */
async function start(): Promise<string> {
  const limiter = sessmgr({ settings: { maximum: 5 } })
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.post('/login', (req, res, next) => {
    limiter.login(req, { id: 'alice' }).then(() => res.sendStatus(200), next)
  })
  app.post('/password', async (req, res) => {
    const current = req.sessmgr?.session
    if (!current) return void res.sendStatus(401)
    await limiter.sessions.endOthers(current.userId, current.token)
    await limiter.login(req, { id: 'alice' })
    res.sendStatus(204)
  })
  app.get('/me', (req, res) => void res.sendStatus(req.sessmgr?.session ? 200 : 401))
  return listen(app)
}

test('after a change of password one session is left: that of the browser, under an id that nobody has stolen', async () => {
  const origin = await start()
  const [own, other] = [new Browser(origin), new Browser(origin)]
  for (const browser of [own, other]) expect((await browser.post('/login')).status).toBe(200)
  const thief = own.copy()
  expect([await own.me(), await other.me(), await thief.me()]).toEqual([200, 200, 200])
  expect((await own.post('/password')).status).toBe(204)
  expect([await own.me(), await other.me(), await thief.me()]).toEqual([200, 401, 401])
  expect(own.sessionId()).not.toBe(thief.sessionId())
  expect((await own.post('/password')).status).toBe(204)
  expect(await own.me()).toBe(200)
})
