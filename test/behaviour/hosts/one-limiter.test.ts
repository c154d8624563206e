import express from 'express'
import session, { MemoryStore } from 'express-session'
import Koa from 'koa'
import koaSession from 'koa-session'
import { describe, expect, test } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { koaSessmgr } from '../../../src/koa.ts'
import { Browser } from '../../support/browser.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'
import { bareFastify } from './bare-fastify.ts'

const REFUSAL = { code: 'invalid_option', message: expect.stringContaining('guarded by another limiter') }

describe('a session store that another limiter guards already', () => {
  test('is refused by Fastify at the start, where it is named', async () => {
    const store = new JsonSessions().forCallbacks() as never
    await (await bareFastify({ limiter: createLimiter({ sessionStore: store }), session: { store } })).app.ready()
    const second = bareFastify({ limiter: createLimiter({ sessionStore: store }), session: { store } })
    await expect(second.then(({ app }) => app.ready())).rejects.toMatchObject(REFUSAL)
  })

  test('is refused by Fastify at the first request', async () => {
    const store = new JsonSessions().forCallbacks() as never
    const [first, second] = [await bareFastify({ session: { store } }), await bareFastify({ session: { store } })]
    const login = { method: 'POST', url: '/login' } as const
    expect((await first.app.inject(login)).statusCode).toBe(200)
    expect((await second.app.inject(login)).statusCode).toBe(500)
    expect(second.errors).toMatchObject([REFUSAL])
    expect((await first.app.inject(login)).statusCode).toBe(200)
  })

  test('is refused by Koa at the start', () => {
    const app = new Koa()
    app.use(koaSession({ store: new JsonSessions().forPromises() as never }, app))
    const limiter = createLimiter()
    koaSessmgr(limiter, app)
    expect(() => koaSessmgr(limiter, app)).not.toThrow()
    expect(() => koaSessmgr(createLimiter(), app)).toThrow(expect.objectContaining(REFUSAL))
  })

  test('is refused by Express, at the start where it is named', async () => {
    const store = new MemoryStore()
    createLimiter({ sessionStore: store })
    expect(() => createLimiter({ sessionStore: store })).toThrow(expect.objectContaining(REFUSAL))
    const app = express()
    app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false }), createLimiter())
    const errors: unknown[] = []
    app.use((error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
      errors.push(error)
      response.sendStatus(500)
    })
    expect((await new Browser(await listen(app)).get('/')).status).toBe(500)
    expect(errors).toMatchObject([REFUSAL])
  })
})

test('a limiter refuses to log somebody in on a request that another one guards', async () => {
  const other = sessmgr()
  const koa = await startKoaHost({ further: () => ({ 'GET /elsewhere': (ctx) => other.login(ctx, { id: 1 }) }) })
  const fastify = await startFastifyHost({
    further: ({ app }) => app.get('/elsewhere', async (request) => other.login(request, { id: 1 })),
  })
  for (const host of [koa, fastify]) {
    expect((await host.browser().get('/elsewhere')).status).toBe(500)
    expect(host.errors).toMatchObject([{ code: 'invalid_option', message: expect.stringContaining('another limiter') }])
  }
  expect(await other.sessions.count(1)).toBe(0)
  await other.close()
})
