import express, { type NextFunction, type Request, type Response } from 'express'
import session, { MemoryStore } from 'express-session'
import Koa, { type Context } from 'koa'
import koaSession from 'koa-session'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStore, type SessionSettings, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { Browser } from '../../support/browser.ts'
import { deferred } from '../../support/deferred.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'

/** Two processes of a Koa application whose own login keeps the session id. */
async function startProcesses() {
  const [store, sessions] = [memoryStore(), new JsonSessions()]
  const logger = { warn() {}, error() {} }
  const [begun, held] = [deferred(), deferred()]
  const start = async () => {
    const limiter = sessmgr({ store, sessionUser: ({ user }) => user as string | undefined, logger })
    onTestFinished(() => limiter.close())
    const app = new Koa()
    app.keys = ['test']
    app.use(koaSession({ store: sessions.forPromises() }, app))
    app.use(koaSessmgr(limiter, app))
    app.use(async (ctx: Context) => {
      if (ctx.path === '/login' && ctx.session) ctx.session.user = ctx.query.name
      if (ctx.path === '/slow') {
        begun.resolve()
        await held.promise
      }
      ctx.body = { user: ctx.session?.user ?? null }
    })
    return new Browser(await listen(app.callback()))
  }
  const one = await start()
  await one.get('/login?name=alice')
  const { cookies } = one
  const other = await start()
  for (const [name, cookie] of cookies) other.cookies.set(name, cookie)
  return { one, other, begun, held }
}

test('a page that began before another user signed in with the same session id does not end that login', async () => {
  const { one, other, begun, held } = await startProcesses()
  const slow = other.get('/slow')
  await begun.promise
  await one.get('/login?name=bob')
  held.resolve()
  await slow
  expect((await one.get('/')).json()).toEqual({ user: 'bob' })
})

test('a process that knows another user by the session id of a login does not end it', async () => {
  const { one, other } = await startProcesses()
  await other.get('/login?name=bob')
  expect((await one.get('/')).json()).toEqual({ user: 'bob' })
  expect((await other.get('/')).json()).toEqual({ user: 'bob' })
})

/** An application whose own login keeps the session id. */
async function startKeeping(settings: Partial<SessionSettings>) {
  const sessionStore = new MemoryStore()
  const logger = { warn() {}, error() {} }
  const sessionUser = ({ user }: Readonly<Record<string, unknown>>) => user as string | undefined
  const limiter = sessmgr({ sessionStore, settings, sessionUser, logger })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store: sessionStore, secret: 'x', resave: false, saveUninitialized: false }), limiter)
  app.get('/login', (req, res) => {
    Object.assign(req.session, { user: req.query.name })
    res.send('welcome')
  })
  app.get('/me', (req, res) => void res.json({ user: (req.session as { user?: unknown }).user ?? null }))
  const [begun, held] = [deferred(), deferred()]
  app.get('/slow', async (req, res) => {
    begun.resolve()
    const copy = JSON.parse(JSON.stringify(req.session))
    await held.promise
    req.sessionStore.set(req.sessionID, copy, () => res.send('saved'))
  })
  app.use((error: { status: number }, _req: Request, res: Response, _next: NextFunction) => {
    res.sendStatus(error.status)
  })
  return { limiter, begun, held, origin: await listen(app) }
}

test('rule 11: a refused login leaves the other user signed in whose session id it would have kept', async () => {
  const { limiter, origin } = await startKeeping({ maximum: 1, logic: 'block' })
  await new Browser(origin).get('/login?name=alice')
  const browser = new Browser(origin)
  await browser.get('/login?name=bob')
  expect((await browser.get('/login?name=alice')).status).toBe(403)
  expect((await browser.get('/me')).json()).toEqual({ user: 'bob' })
  expect(await limiter.sessions.count('bob')).toBe(1)
  await limiter.sessions.endAll('alice')
  expect((await browser.get('/login?name=alice')).status).toBe(200)
  expect((await browser.get('/me')).json()).toEqual({ user: 'alice' })
  expect([await limiter.sessions.count('alice'), await limiter.sessions.count('bob')]).toEqual([1, 0])
})

test('rule 47: a copy of an ended session that is written late does not bring it back, even after its cookie was used', async () => {
  const { limiter, begun, held, origin } = await startKeeping({ maximum: 2 })
  const browser = new Browser(origin)
  await browser.get('/login?name=alice')
  const slow = browser.copy().get('/slow')
  await begun.promise
  await limiter.sessions.endAll('alice')
  expect((await browser.copy().get('/me')).json()).toEqual({ user: null })
  held.resolve()
  await slow
  expect((await browser.get('/me')).json()).toEqual({ user: null })
  expect(await limiter.sessions.count('alice')).toBe(0)
})
