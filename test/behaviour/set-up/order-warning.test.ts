import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import session from 'express-session'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { type Sessmgr, sessmgr } from '../../../src/index.ts'
import { aWarning } from '../../support/a-warning.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { basic } from '../../support/rest-client.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const SETTINGS = '/api/sessmgr/v1/settings'
const COMMENTS = '/api/lazycomments/v1/comments?post_id=1'
const posts = { find: () => undefined, id: () => 1, url: () => '/', isPublic: () => true, countComments: () => 1 }
const theme = { renderComments: () => '' }

let logs: unknown[]
beforeEach(() => {
  logs = []
})

/** Puts an application together; an administrator signs in at `/in`, which tells his nonce. */
async function start(arrange: (app: express.Express, limiter: Sessmgr) => void, cookie: session.CookieOptions = {}) {
  const note = (...line: unknown[]) => void logs.push(line[0])
  const users = createRestUsers()
  const host = { ...restHostOf(users), posts, theme }
  const limiter = sessmgr({ logger: { warn: note, error: note }, host })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false, cookie }))
  arrange(app, limiter)
  app.get('/{*any}', async (req, res) => {
    if (req.path.endsWith('/in')) await limiter.login(req, users[0])
    res.send((await limiter.nonce(req)) ?? '')
  })
  const browser = new Browser(await listen(app))
  const signIn = async (path = '/in') => ({ 'x-host-nonce': (await browser.get(path)).text })
  return { browser, limiter, signIn, users }
}

describe('a router that stands before sessmgr', () => {
  const wrongOrder = (app: express.Express, limiter: Sessmgr) => app.use('/api', limiter.router()).use(limiter)

  test('logs once that it takes everybody for signed out', async () => {
    const { browser, signIn } = await start(wrongOrder)
    const headers = await signIn()
    expect(headers['x-host-nonce']).not.toBe('')
    for (let call = 0; call < 3; call++) expect((await browser.get(SETTINGS, { headers })).status).toBe(401)
    const words = /^sessmgr is not mounted before limiter\.router\(\).*app\.use\(limiter\)/
    expect(logs).toEqual([aWarning('routes-before-sessmgr', words)])
  })

  test('logs nothing for scripts, for readers without a nonce, and for paths of the application', async () => {
    const { browser, limiter, signIn, users } = await start(wrongOrder)
    const headers = await signIn()
    const { password } = await limiter.passwords.create(users[0]?.id ?? 0, 'script')
    const script = basic(users[0]?.login ?? '', password)
    expect((await browser.get(SETTINGS, { headers: script })).status).toBe(200)
    await browser.get(COMMENTS)
    await browser.get('/api/hello', { headers })
    expect(logs).toEqual([])
  })
})

describe('an admin screen that stands before sessmgr', () => {
  test('logs once why it sends everybody to the login', async () => {
    const { browser, signIn } = await start((app, limiter) =>
      app.use('/admin', limiter.admin()).use(limiter).use('/api', limiter.router()),
    )
    await browser.get('/admin')
    await browser.get('/admin/assets/none.js')
    expect(logs).toEqual([])
    await signIn()
    for (let visit = 0; visit < 3; visit++) expect((await browser.get('/admin')).status).toBe(302)
    expect(logs).toEqual([expect.stringMatching(/^sessmgr is not mounted before limiter\.admin\(\)/)])
  })
})

describe('the right order logs nothing', () => {
  const all = (app: express.Express, limiter: Sessmgr) =>
    app.use(limiter).use('/admin', limiter.admin()).use('/api', limiter.router())

  test('for who is signed in, signed out, or has no cookie', async () => {
    const { browser, limiter, signIn } = await start(all)
    const headers = await signIn()
    expect((await browser.get(SETTINGS, { headers })).status).toBe(200)
    expect((await browser.get('/admin')).status).toBe(200)
    await limiter.sessions.endAll(1)
    for (const path of [SETTINGS, '/admin']) await browser.get(path, { headers })
    for (const path of [SETTINGS, '/admin']) await browser.get(path, { headers: { ...headers, cookie: 'a=b' } })
    expect(logs).toEqual([])
  })

  test('for who is signed in by explicit calls', async () => {
    const held = new Set(['own'])
    const { browser, limiter } = await start((app, made) => {
      const calls = explicitCalls(made, { exists: (id) => held.has(id), destroy: (id) => held.delete(id) })
      app.get('/own-in', async (_req, res) => {
        await calls.login({ userId: 1 }, async () => ({ sessionId: 'own', ttlMs: 60_000 }))
        res.cookie('own', 'own').send('in')
      })
      app.use(async (request, _response, next) => {
        await calls.check({ userId: 1, sessionId: 'own', request })
        next()
      })
      app.use('/api', made.router())
    })
    await browser.get('/own-in')
    const nonce = (await browser.get('/anything')).text
    const answer = await browser.get(SETTINGS, { headers: { 'x-host-nonce': nonce } })
    expect([nonce === '', answer.status, await limiter.sessions.count(1)]).toEqual([false, 200, 1])
    expect(logs).toEqual([])
  })

  test('where the cookie of the session does not reach them', async () => {
    const { browser, signIn } = await start(all, { path: '/app' })
    const headers = { ...(await signIn('/app/in')), cookie: 'a=b' }
    for (const path of [SETTINGS, '/admin']) await browser.get(path, { headers })
    expect(logs).toEqual([])
  })

  test('in a host that is not Express, for a page whose reader has no session any more', async () => {
    const limiter = sessmgr({
      logger: { warn: (line) => void logs.push(line), error() {} },
      host: restHostOf(createRestUsers()),
    })
    onTestFinished(() => limiter.close())
    const router = limiter.router()
    const plain = (request: IncomingMessage, response: ServerResponse) =>
      router(Object.assign(request, { url: request.url?.slice('/api'.length) }), response, () => response.end())
    const browser = new Browser(await listen(plain))
    const headers = { 'x-host-nonce': 'old', cookie: 'a=b' }
    expect((await browser.get(SETTINGS, { headers })).status).toBe(401)
    expect(logs).toEqual([])
  })

  test('If the limiter is mounted under a path, and scripts and readers alone use the routes beside it', async () => {
    const { browser, signIn } = await start((app, limiter) => app.use('/app', limiter).use('/api', limiter.router()))
    await signIn('/app/in')
    await browser.get(COMMENTS)
    await browser.get(SETTINGS)
    await browser.get(SETTINGS, { headers: basic('admin', 'wrong') })
    expect(logs).toEqual([])
  })
})
