import express from 'express'
import session from 'express-session'
import { expect, onTestFinished, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'

const PAGE = { headers: { 'Sec-Fetch-Mode': 'navigate', Accept: 'text/html' } }

/** Requests a page with the cookies from before the login, and gives its answer to the browser that has logged in. */
async function comeLate(before: Browser, browser: Browser): Promise<void> {
  const { setCookies } = await before.get('/', PAGE)
  expect(setCookies).toEqual([])
  expect(await browser.me()).toBe(200)
}

test.each(['redirect', 'logIn', 'limiter'] as const)(
  'rule 7: a page that was requested before a login by %s does not sign the browser out again',
  async (way) => {
    const { browser: open } = await startExpressHost({ way })
    const browser = open()
    await browser.post('/cart', { item: 'tea' })
    const visitor = browser.copy()
    await browser.login('alice')
    await comeLate(visitor, browser)
    const user = browser.copy()
    await browser.login('alice')
    await comeLate(user, browser)
    await comeLate(visitor, browser)
  },
)

test('rule 7: a page that was requested before a login by the application itself does not sign out either', async () => {
  const sessionUser = (data: Record<string, unknown>) => data.userId as number | undefined
  const limiter = sessmgr({ sessionUser, settings: { maximum: 1 } })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store: new TestStore(), secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.post('/cart', (req, res) => {
    Object.assign(req.session, { cart: ['tea'] })
    res.sendStatus(204)
  })
  app.post('/login', (req, res, next) => {
    req.session.regenerate((error) => {
      if (error) return next(error)
      Object.assign(req.session, { userId: 7 })
      res.sendStatus(204)
    })
  })
  app.get('/', (_req, res) => void res.send('a page'))
  app.get('/me', (req, res) => void res.sendStatus(sessionUser(req.session as never) ? 200 : 401))
  const browser = new Browser(await listen(app))
  await browser.post('/cart')
  const visitor = browser.copy()
  await browser.post('/login')
  await comeLate(visitor, browser)
  const user = browser.copy()
  await browser.post('/login')
  await comeLate(user, browser)
})

test('decision 71: a browser that has not replaced its ended session keeps the cookie, which signs nobody in', async () => {
  const host = await startExpressHost({ settings: { maximum: 1 } })
  const first = await host.signedIn('alice')
  await host.signedIn('alice')
  await comeDead(first)
  const second = await host.signedIn('alice')
  const tab = second.copy()
  await second.post('/destroy')
  await comeDead(tab)
  expect(host.store.ids()).toEqual([])

  async function comeDead(browser: Browser) {
    const id = browser.sessionId()
    for (let request = 0; request < 2; request++) {
      const { status, setCookies } = await browser.get('/', PAGE)
      expect([status, setCookies.filter((cookie) => !cookie.startsWith('sessmgr_notice='))]).toEqual([200, []])
      expect(await browser.me()).toBe(401)
    }
    expect(browser.sessionId()).toBe(id)
    expect(host.store.read(id)).toBeUndefined()
  }
})
