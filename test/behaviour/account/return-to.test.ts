import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'
import { PAGE } from './account-hosts.ts'

const NAVIGATION = { headers: { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', Accept: 'text/html' } }
const hosts = { Express: startExpressHost, Fastify: startFastifyHost, Koa: startKoaHost }

test.each(Object.entries(hosts))(
  'decision 86: a guest who opens the account page in %s finds the way back',
  async (_, start) => {
    const address = `/login?redirect_to=${encodeURIComponent(PAGE)}`
    const sessions = new JsonSessions()
    const host = await start({ sessions, account: {}, sessmgr: { settings: { maximum: 1, logic: 'allow' } } })
    // In the address, and gets no session.
    const answer = await host.browser().get(PAGE)
    expect([answer.location, answer.setCookies, sessions.ids()]).toEqual([address, [], []])
    // In their session, too, if they have one.
    const guest = host.browser()
    await guest.post('/cart', { item: 'tea' })
    expect((await guest.get(PAGE)).location).toBe(address)
    expect(sessions.read(host.sessionIdOf(guest))).toMatchObject({ cart: ['tea'], returnTo: PAGE })
    // In the address after their session was ended, and sees why on the login page.
    const displaced = host.browser()
    await displaced.login('alice')
    await host.browser().login('alice')
    const before = sessions.ids().length
    expect((await displaced.get(PAGE, NAVIGATION)).location).toBe(address)
    expect(sessions.ids().length).toBeLessThanOrEqual(before)
    expect((await displaced.get('/api/sessmgr/v1/me/notice')).json()).toMatchObject({ kind: 'displaced' })
  },
)

describe('decision 86: a guest who opens the admin screen', () => {
  async function start() {
    return new Browser(await startOrigin())
  }

  async function startOrigin() {
    const users = createRestUsers()
    const limiter = sessmgr({ host: restHostOf(users), logger: { warn() {}, error() {} } })
    onTestFinished(() => limiter.close())
    const own = new passport.Passport()
    own.use(new Strategy((_name, _password, done) => done(null, users[0] as Express.User)))
    own.serializeUser((user, done) => done(null, user.id))
    const app = express()
    const withSession = session({ secret: 'test', resave: false, saveUninitialized: false })
    app.use((req, res, next) => (req.path === '/bare' ? next() : withSession(req, res, next)))
    app.use(limiter)
    app.use('/admin', limiter.admin())
    app.use('/bare', limiter.admin())
    app.use('/any', (req, res, next) => {
      req.originalUrl = `//evil.example${req.originalUrl}`
      limiter.admin()(req, res, next)
    })
    app.get('/visit', (req, res) => {
      Object.assign(req.session, { visited: true })
      res.sendStatus(204)
    })
    app.get('/return-to', (req, res) => void res.json(Reflect.get(req.session, 'returnTo')))
    app.get('/login', async (req, res) => void res.send((await limiter.notice(req, res))?.text))
    app.use(express.urlencoded({ extended: false }))
    app.post('/login', own.authenticate('local', { successReturnToOrRedirect: '/', keepSessionInfo: true }))
    return listen(app)
  }

  test("comes back by Passport's successReturnToOrRedirect, if they have a session", async () => {
    const guest = await start()
    await guest.get('/visit')
    await guest.get('/admin/sessions?user=alice')
    const answer = await guest.post('/login', { username: 'admin', password: 'right' })
    expect(answer.location).toBe('/admin/sessions?user=alice')
  })

  test('finds the way back in the address after their session was ended, and sees why', async () => {
    const origin = await startOrigin()
    const [displaced, other] = [new Browser(origin), new Browser(origin)]
    for (const browser of [displaced, other]) await browser.post('/login', { username: 'admin', password: 'right' })
    const { location } = await displaced.get('/admin/sessions', NAVIGATION)
    expect(location).toBe('/login?redirect_to=%2Fadmin%2Fsessions')
    expect((await displaced.get(String(location), NAVIGATION)).text).toBe(
      'Just now, this account signed in somewhere else.',
    )
  })

  test('is led to no other site, and needs no session', async () => {
    const guest = await start()
    await guest.get('/visit')
    expect((await guest.get('/any')).location).toBe('/login')
    expect((await guest.get('/return-to')).text).toBe('')
    expect((await guest.get('/bare')).location).toBe('/login?redirect_to=%2Fbare')
  })
})
