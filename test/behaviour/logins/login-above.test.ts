import express, { type RequestHandler } from 'express'
import session from 'express-session'
import passport from 'passport'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Sessmgr, sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'

let logs: unknown[]
beforeEach(() => {
  logs = []
})

/** An application where `/in` signs somebody in, above sessmgr or below, and `/new-id` changes the id of a session. */
async function start(login: 'above' | 'below') {
  const note = (line: string) => void logs.push(line)
  const limiter: Sessmgr = sessmgr({ logger: { warn: note, error: note } })
  onTestFinished(() => limiter.close())
  const authentication = new passport.Passport()
  authentication.serializeUser((user, done) => done(null, (user as { id: number }).id))
  authentication.deserializeUser((id: number, done) => done(null, { id } as Express.User))
  const stack: RequestHandler[] = [authentication.session() as RequestHandler]
  const signIn: RequestHandler = (req, res, next) =>
    req.logIn({ id: 2 } as Express.User, (error: unknown) => (error ? next(error) : res.send('in')))
  const newId: RequestHandler = (req, res, next) => {
    const kept = (req.session as { passport?: unknown }).passport
    req.session.regenerate((error) => {
      Object.assign(req.session, { passport: kept })
      if (error) next(error)
      else res.send('new')
    })
  }
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), ...stack)
  if (login === 'above') app.get('/in', signIn)
  app.use(limiter)
  app.get('/in', signIn)
  app.get('/new-id', newId)
  app.get('/me', (req, res) => void res.json(req.sessmgr))
  return { limiter, origin: await listen(app) }
}

describe('rule 5: a login on a route above sessmgr', () => {
  test('is counted once there is a guard, and logged once', async () => {
    const { limiter, origin } = await start('above')
    await new Browser(origin).get('/me')
    for (let login = 0; login < 3; login++) expect((await new Browser(origin).get('/in')).status).toBe(200)
    expect(await limiter.sessions.count(2)).toBe(1)
    expect(logs).toEqual([expect.stringMatching(/Mount sessmgr before your login routes, and without a path\./)])
  })
})

describe('nothing is logged for', () => {
  test('a login behind sessmgr, be it the first request of all, and a change of the session id', async () => {
    const { limiter, origin } = await start('below')
    const browser = new Browser(origin)
    for (const path of ['/in', '/me', '/new-id', '/me']) expect((await browser.get(path)).status).toBe(200)
    expect(await limiter.sessions.count(2)).toBe(1)
    expect(logs).toEqual([])
  })
})

test('a session from before the first request is adopted, and nothing is logged', async () => {
  const { limiter, origin } = await start('above')
  const browsers = [new Browser(origin), new Browser(origin)]
  for (const browser of browsers) await browser.get('/in')
  expect((await browsers[0]?.get('/me'))?.json()).toMatchObject({ session: { userId: 2 } })
  await browsers[1]?.get('/me')
  expect(logs).toEqual([])
  // Adoption logs nobody out.
  expect(await limiter.sessions.count(2)).toBe(2)
})
