import { get, type IncomingMessage } from 'node:http'
import { PassThrough, pipeline } from 'node:stream'
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'

const USER = 2
const JUST_OVER_TWO_MINUTES = 121_000
const JUST_OVER_TEN_MINUTES = 601_000

/** Starts an application whose login streams its answer without an end, in mode `block` with one session. */
async function start() {
  const clock = fakeClock(1_700_000_000_000)
  const store = memoryStore({ clock })
  const limiter = sessmgr({ store, settings: { maximum: 1, logic: 'block' } })
  onTestFinished(() => limiter.close())
  const authentication = new passport.Passport()
  authentication.serializeUser((user, done) => done(null, (user as { id: number }).id))
  authentication.deserializeUser((id: number, done) => done(null, { id } as Express.User))
  const app = express()
  const cookie = { maxAge: 14 * 24 * 60 * 60 * 1000 }
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false, cookie }), limiter)
  app.use(authentication.session())
  app.get('/in', (req, res, next) => {
    req.logIn({ id: USER } as Express.User, (error: unknown) => {
      if (error) return next(error)
      const page = new PassThrough()
      page.write('the first lines')
      pipeline(page, res, () => {})
    })
  })
  app.get('/me', (req, res) => void res.sendStatus(req.user ? 200 : 401))
  const origin = await listen(app)

  /** Logs in, takes the cookie from the head of the answer, and hangs up. */
  async function cutOffLogin(): Promise<Browser> {
    const browser = new Browser(origin)
    const request = get(`${origin}/in`, { agent: false })
    const answer = await new Promise<IncomingMessage>((resolve) => request.once('response', resolve))
    expect(answer.statusCode).toBe(200)
    const [, value = ''] = /connect\.sid=([^;]+)/.exec(String(answer.headers['set-cookie'])) ?? []
    browser.cookies.set('connect.sid', { value, path: '/' })
    request.destroy()
    return browser
  }
  const me = async (browser: Browser) => (await browser.get('/me')).status
  return { clock, store, limiter, cutOffLogin, me }
}

describe('rule 5: a login that was cut off before its answer was complete', () => {
  test('gives its place to another after two minutes, and is over', async () => {
    const { clock, limiter, cutOffLogin, me } = await start()
    const browsers: Browser[] = []
    for (let login = 0; login < 3; login++) {
      browsers.push(await cutOffLogin())
      expect(await limiter.sessions.count(USER)).toBe(1)
      clock.advance(JUST_OVER_TWO_MINUTES)
    }
    expect(await Promise.all(browsers.map(me))).toEqual([401, 401, 401])
    expect(await limiter.sessions.count(USER)).toBe(0)
  })

  test('goes on for its full time where the browser comes back with it before', async () => {
    const { clock, limiter, cutOffLogin, me } = await start()
    const browser = await cutOffLogin()
    expect(await me(browser)).toBe(200)
    clock.advance(JUST_OVER_TWO_MINUTES)
    expect([await me(browser), await limiter.sessions.count(USER)]).toEqual([200, 1])
  })

  test('rule 14: does not live again once it was ended where nobody knows the session store', async () => {
    const { clock, store, limiter, cutOffLogin, me } = await start()
    const browser = await cutOffLogin()
    expect(await sessmgr({ store }).sessions.endAll(USER)).toBe(1)
    clock.advance(JUST_OVER_TEN_MINUTES)
    expect([await me(browser), await limiter.sessions.count(USER)]).toEqual([401, 0])
  })
})
