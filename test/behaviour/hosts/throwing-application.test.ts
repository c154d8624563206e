import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import express5 from 'express'
import session from 'express-session'
import express4 from 'express4'
import Koa from 'koa'
import koaSession from 'koa-session'
import onHeaders from 'on-headers'
import { expect, onTestFinished, test } from 'vitest'
import { fastifyRoutes } from '../../../src/fastify.ts'
import { type Logger, type Sessmgr, sessmgr } from '../../../src/index.ts'
import { koaRoutes, koaSessmgr } from '../../../src/koa.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'
import { bareFastify } from './bare-fastify.ts'

const throwing: Logger = {
  warn() {
    throw new Error('the logger is broken')
  },
  error: () => Promise.reject(new Error('the logger is broken')) as unknown as undefined,
}

function createLimiter(): Sessmgr {
  const posts = {
    find: () => {
      throw new Error('the posts are broken')
    },
    id: () => 1,
    url: () => '/1',
    isPublic: () => true,
    countComments: () => 0,
  }
  const host = { ...restHostOf(createRestUsers()), posts, theme: { renderComments: () => '' } }
  const limiter = sessmgr({ host: host as never, logger: throwing })
  onTestFinished(() => limiter.close())
  return limiter
}

/** A listener of the application that fails while the head of an answer is written, as often as a header says. */
function listenBadly(request: IncomingMessage, response: ServerResponse): void {
  for (let left = Number(request.headers['x-throws'] ?? 0); left > 0; left--) {
    onHeaders(response, () => {
      throw new Error('a listener is broken')
    })
  }
}

async function startExpress(express: typeof express5): Promise<string> {
  const limiter = createLimiter()
  const app = express()
  app.set('env', 'test')
  app.use((req, res, next) => {
    listenBadly(req, res)
    next()
  })
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.use('/api', limiter.router()).use('/admin', limiter.admin())
  return listen(app)
}

async function startFastify(): Promise<string> {
  const { app, limiter, listen } = await bareFastify({ limiter: createLimiter() })
  app.addHook('onRequest', async ({ raw }, reply) => listenBadly(raw, reply.raw))
  await app.register(fastifyRoutes, { prefix: '/api', serve: limiter.router() })
  await app.register(fastifyRoutes, { prefix: '/admin', serve: limiter.admin() })
  return listen()
}

async function startKoa(): Promise<string> {
  const limiter = createLimiter()
  const app = new Koa()
  app.keys = ['test']
  app.silent = true
  app.use((ctx, next) => {
    listenBadly(ctx.req, ctx.res)
    return next()
  })
  app.use(koaSession({ store: new JsonSessions().forPromises() as never }, app))
  app.use(koaSessmgr(limiter, app))
  app.use(koaRoutes('/api', limiter.router())).use(koaRoutes('/admin', limiter.admin()))
  return listen(app.callback())
}

/** Node alone, with explicit calls. */
async function startExplicit(): Promise<string> {
  const limiter = createLimiter()
  const served = { '/api': limiter.router(), '/admin': limiter.admin({ path: '/admin' }) }
  const server = createServer((request, response) => {
    listenBadly(request, response)
    const [path, middleware] = Object.entries(served).find(([path]) => request.url?.startsWith(path)) ?? []
    request.url = request.url?.slice(path?.length) || '/'
    middleware?.(request, response, () => {
      response.statusCode = 500
      response.end('error page')
    })
  })
  return listen(server.listeners('request')[0] as Parameters<typeof listen>[0])
}

const HOSTS = {
  'Express 5': () => startExpress(express5),
  'Express 4': () => startExpress(express4 as unknown as typeof express5),
  Fastify: startFastify,
  Koa: startKoa,
  'Node alone': startExplicit,
}

const ROUTES = [
  '/api/sessmgr/v1/settings',
  '/api/sessmgr/v1/nothing',
  '/api/lazycomments/v1/comments?post_id=1',
  '/admin',
]

/** Status of an answer; 'cut' when the connection ends without one. A request that stays unanswered fails the test. */
async function outcome(url: string, throws: number): Promise<number | 'cut'> {
  const headers = { 'x-throws': String(throws) }
  try {
    return (await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(10_000) })).status
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw error
    return 'cut'
  }
}

const NAMES = Object.keys(HOSTS) as (keyof typeof HOSTS)[]

test.each(NAMES)('on %s, every route answers although a listener and the logger throw', async (name) => {
  const origin = await HOSTS[name]()
  for (const path of ROUTES) {
    const usual = await outcome(origin + path, 0)
    const expected = { '/admin': 302, '/api/sessmgr/v1/nothing': 404 }[path] ?? (path.includes('lazy') ? 500 : 401)
    expect(usual, path).toBe(expected)
    // Fastify and Koa try the same answer again, or make one of their own.
    expect([500, usual], path).toContain(await outcome(origin + path, 1))
    // What frameworks make of several such listeners on their own error pages is up to them.
    const isOwnPage = name === 'Fastify' || name === 'Koa' || path === '/admin'
    for (const throws of isOwnPage ? [] : [2, 3, 9]) {
      expect(['cut', 500], path).toContain(await outcome(origin + path, throws))
    }
    expect(await outcome(origin + path, 0), path).toBe(usual)
  }
})
