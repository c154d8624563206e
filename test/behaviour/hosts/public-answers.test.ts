import type { IncomingMessage } from 'node:http'
import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import koaSession from 'koa-session'
import { expect, onTestFinished, test } from 'vitest'
import { createLazyComments } from '../../../src/comments.ts'
import { fastifyRoutes } from '../../../src/fastify.ts'
import { koaRoutes } from '../../../src/koa.ts'
import { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { startSharedCache } from '../../support/shared-cache.ts'

const COMMENTS = '/api/lazycomments/v1/comments?post_id=1'
const SECRET = 'a secret of the tests, long enough for it'

/** A theme that fills in the name that a guest has given before, and guards the form with a token of the guest's. */
const comments = createLazyComments({
  host: {
    posts: {
      find: (id) => (id === 1 ? { id } : undefined),
      id: ({ id }) => id,
      url: ({ id }) => `/posts/${id}`,
      isPublic: () => true,
      countComments: () => 1,
    },
    theme: {
      renderComments: (_post, { request }) => {
        const name = /guest=(\w+)/.exec((request as IncomingMessage).headers.cookie ?? '')?.[1] ?? ''
        const token = name && `token of ${name}`
        return `<p>One.</p><form><input name="author" value="${name}"><input name="csrf" value="${token}"></form>`
      },
    },
  },
})

const remember = (name: string | undefined) => `guest=${name}; Path=/`

async function startExpress(): Promise<string> {
  const app = express()
  app.get('/as/:name', (req, res) => void res.setHeader('Set-Cookie', remember(req.params.name)).send('ok'))
  app.use('/api', comments.router())
  return listen(app)
}

async function startFastify(): Promise<string> {
  const app = fastify()
  app.get<{ Params: { name: string } }>('/as/:name', async (request, reply) => {
    reply.header('Set-Cookie', remember(request.params.name))
    return 'ok'
  })
  await app.register(fastifyRoutes, { prefix: '/api', serve: comments.router() })
  onTestFinished(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

async function startKoa(): Promise<string> {
  const app = new Koa()
  app.use(koaRoutes('/api', comments.router()) as unknown as Koa.Middleware)
  app.use((ctx) => {
    ctx.set('Set-Cookie', remember(ctx.path.split('/').at(-1)))
    ctx.body = 'ok'
  })
  return listen(app.callback())
}

test.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Koa', startKoa],
])('on %s, what is filled in for a guest never reaches another through a shared cache', async (_name, start) => {
  const origin = await startSharedCache(await start())
  const [ann, ben, stranger] = [new Browser(origin), new Browser(origin), new Browser(origin)]
  await ann.get('/as/Ann')
  await ben.get('/as/Ben')
  const read = async (browser: Browser) => {
    const answer = await browser.get(COMMENTS)
    const { html } = answer.json<{ html: string }>()
    return { html, cache: answer.headers.get('x-cache'), control: answer.headers.get('cache-control') }
  }

  const first = await read(ann)
  expect(first.html).toContain('value="Ann"')
  expect(first.html).toContain('value="token of Ann"')
  expect(first.control).toBe('private, no-store')
  // The answer for everybody comes between those for one guest each.
  expect(await read(stranger)).toMatchObject({ html: expect.not.stringMatching(/Ann|Ben/), cache: 'miss' })
  expect(await read(stranger)).toMatchObject({ cache: 'hit', control: expect.stringMatching(/^public/) })
  expect(await read(ben)).toMatchObject({ html: expect.stringContaining('value="token of Ben"'), cache: 'miss' })
  expect(await read(ann)).toEqual(first)
  expect(await read(new Browser(origin))).toMatchObject({ html: expect.not.stringMatching(/Ann|Ben/), cache: 'hit' })
})

/** Gets the comments, and another page, of which the first may be kept by caches for everybody. */
async function check(origin: string): Promise<void> {
  const answer = await fetch(origin + COMMENTS)
  expect(await answer.json()).toEqual({ html: expect.stringContaining('<p>One.</p>') })
  expect(answer.headers.get('cache-control')).toMatch(/^public/)
  expect(answer.headers.get('set-cookie')).toBeNull()
  // Decision 84.
  const forwarded = 'Accept-Language, X-Forwarded-Host, X-Forwarded-Proto'
  expect(answer.headers.get('vary')).toBe(`Origin, Accept-Encoding, Cookie, ${forwarded}, X-HOST-Nonce`)
  const page = await fetch(`${origin}/page`)
  expect(page.headers.get('set-cookie')).toMatch(/^\w/)
}

test('Fastify sends what caches may keep without a cookie, and keeps what the application varies by', async () => {
  const app = fastify()
  app.addHook('onRequest', async (_request, reply) => void reply.header('Vary', 'Origin'))
  await app.register(fastifyCookie)
  await app.register(fastifySession, { secret: SECRET, saveUninitialized: true, cookie: { secure: false } })
  await app.register(fastifyRoutes, { prefix: '/api', serve: comments.router() })
  app.get('/page', async () => 'page')
  onTestFinished(() => app.close())
  await check(await app.listen({ port: 0, host: '127.0.0.1' }))
})

test('Koa sends what caches may keep without a cookie, and keeps what the application varies by', async () => {
  const app = new Koa()
  app.keys = [SECRET]
  app.use(koaSession({}, app))
  app.use(async (ctx, next) => {
    ctx.set('Vary', 'Origin')
    if (ctx.session) ctx.session.seen = true
    await next()
  })
  app.use(koaRoutes('/api', comments.router()) as unknown as Koa.Middleware)
  app.use((ctx) => {
    ctx.body = 'page'
  })
  await check(await listen(app.callback()))
})
