import Koa, { type Context } from 'koa'
import koaSession from 'koa-session'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStore, SessmgrError, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { Browser } from '../../support/browser.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'

const HOUR_MS = 3_600_000

async function start() {
  const store = memoryStore()
  const limiter = sessmgr({ store, logger: { warn() {}, error() {} } })
  onTestFinished(() => limiter.close())
  const sessions = new JsonSessions()
  const app = new Koa()
  app.keys = ['test']
  app.silent = true
  app.use(koaSession({ store: sessions.forPromises(), maxAge: HOUR_MS }, app))
  app.use(koaSessmgr(limiter, app))
  app.use(async (ctx: Context) => {
    if (ctx.path === '/login') {
      try {
        await limiter.login(ctx, { id: 7 })
        if (ctx.session) ctx.session.user = 7
        ctx.body = 'welcome'
      } catch (error) {
        ctx.status = (error as { status: number }).status
        ctx.body = 'away'
      }
    } else ctx.body = { user: ctx.session?.user ?? null, state: ctx.sessmgr }
  })
  return { limiter, store, sessions, browser: new Browser(await listen(app.callback())) }
}

test('rule 67: in Koa, the life that a login reports is that of its session', async () => {
  const { limiter, browser } = await start()
  const lives: number[] = []
  limiter.hooks.addAction(
    'sessmgr_session_started',
    'test',
    ({ createdAt, expiresAt }) => void lives.push(expiresAt - createdAt),
  )
  await browser.get('/login')
  await expect.poll(() => lives).toHaveLength(1)
  expect(Math.round((lives[0] ?? 0) / 60_000)).toBe(60)
})

test('in Koa, a login that is answered 503 leaves the visitor as he was, even if the session store is away as well', async () => {
  const { limiter, store, sessions, browser } = await start()
  const { commit } = store.sessions
  const away = Object.assign(new Error('The server is away'), { code: 'ECONNREFUSED' })
  store.sessions.commit = async () => {
    sessions.failure = away
    throw new SessmgrError('store_unavailable', 'The store is away.')
  }
  const failed = await browser.get('/login')
  expect([failed.status, failed.setCookies]).toEqual([503, []])
  sessions.failure = undefined
  store.sessions.commit = commit
  expect((await browser.get('/')).json()).toEqual({ user: null, state: {} })
  expect(await limiter.sessions.count(7)).toBe(0)
})
