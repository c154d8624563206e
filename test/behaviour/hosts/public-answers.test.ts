import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import fastify from 'fastify'
import Koa from 'koa'
import koaSession from 'koa-session'
import { expect, onTestFinished, test } from 'vitest'
import { createLazyComments } from '../../../src/comments.ts'
import { fastifyRoutes } from '../../../src/fastify.ts'
import { koaRoutes } from '../../../src/koa.ts'
import { listen } from '../../support/listen.ts'

const SECRET = 'a secret of the tests, long enough for it'

const comments = createLazyComments({
  host: {
    posts: {
      find: (id) => (id === 1 ? { id } : undefined),
      id: ({ id }) => id,
      url: ({ id }) => `/posts/${id}`,
      isPublic: () => true,
      countComments: () => 1,
    },
    theme: { renderComments: () => '<p>One.</p>' },
  },
})

/** Gets the comments, and another page, of which the first may be kept by caches for everybody. */
async function check(origin: string): Promise<void> {
  const answer = await fetch(`${origin}/api/lazycomments/v1/comments?post_id=1`)
  expect(await answer.json()).toEqual({ html: '<p>One.</p>' })
  expect(answer.headers.get('cache-control')).toMatch(/^public/)
  expect(answer.headers.get('set-cookie')).toBeNull()
  expect(answer.headers.get('vary')).toBe('Origin, Accept-Encoding, Cookie, X-HOST-Nonce')
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
