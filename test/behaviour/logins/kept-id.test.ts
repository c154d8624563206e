import Koa, { type Context } from 'koa'
import koaSession from 'koa-session'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { Browser } from '../../support/browser.ts'
import { deferred } from '../../support/deferred.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'

test('a page that began before another user signed in with the same session id does not end that login', async () => {
  const [store, sessions] = [memoryStore(), new JsonSessions()]
  const logger = { warn() {}, error() {} }
  const [begun, held] = [deferred(), deferred()]
  /** A process of the application. */
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
    return await listen(app.callback())
  }
  const one = new Browser(await start())
  await one.get('/login?name=alice')
  const slow = one.copy(await start()).get('/slow')
  await begun.promise
  await one.get('/login?name=bob')
  held.resolve()
  await slow
  expect((await one.get('/')).json()).toEqual({ user: 'bob' })
})
