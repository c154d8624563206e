import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Response } from 'express'
import type { FastifyReply } from 'fastify'
import type { Context } from 'koa'
import { onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import type { Sessmgr, SessmgrOptions } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { type ExpressSetup, startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { createLimiter, type HostSetup } from '../../support/host-under-test.ts'
import type { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'
import { authenticate } from '../../support/users.ts'

/** One process of an application with these routes, beside `POST /login`: `/page`, a page that shows the notice;
 * `/quiet`, one that does not; `/away`, which asks for the notice and redirects; `/away?write`, which also writes into
 * the session; `/data`, which answers scripts. Pages with `?cache=` have that `Cache-Control`, and those with `?old` a
 * date from which caches guess how long to keep them. */
export interface NoticeHost {
  readonly limiter: Sessmgr
  readonly origin: string
  browser(): Browser
}

/** Starts one process on sessions that several share. */
export type StartNoticeHost = (
  options: SessmgrOptions,
  sessions: JsonSessions,
  setup?: Partial<HostSetup>,
) => Promise<NoticeHost>

function cachedAs(url = ''): Record<string, string> {
  const { searchParams } = new URL(url, 'http://localhost')
  const control = searchParams.get('cache')
  const isOld = searchParams.has('old') && { 'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT' }
  return { ...(control !== null && { 'Cache-Control': control }), ...isOld }
}

const express: StartNoticeHost = (sessmgr, sessions, setup) => {
  const further: ExpressSetup['further'] = ({ app, limiter }) => {
    app.use((req, res, next) => next(void res.set(cachedAs(req.url))))
    const html = (res: Response, body: unknown) => void res.type('html').send(JSON.stringify(body ?? null))
    app.get('/page', async (req, res) => html(res, await limiter.notice(req, res)))
    app.get('/quiet', (_req, res) => html(res, 'quiet'))
    app.get('/away', async (req, res) => {
      await limiter.notice(req, res)
      if (req.query.write !== undefined) req.session.messages = ['sign in first']
      res.redirect('/page')
    })
    app.get('/data', async (req, res) => {
      const body = await limiter.signedOut(req)
      res.status(body?.data.status ?? 200).json(body ?? null)
    })
  }
  return startExpressHost({ sessmgr, sessions, ...setup, further } as ExpressSetup)
}

const fastify: StartNoticeHost = (sessmgr, sessions, setup) =>
  startFastifyHost({
    sessmgr,
    sessions,
    ...setup,
    further({ app, limiter }) {
      app.addHook('onRequest', async (request, reply) => void reply.headers(cachedAs(request.url)))
      const html = (reply: FastifyReply, body: unknown) => reply.type('text/html').send(JSON.stringify(body ?? null))
      app.get('/page', async (request, reply) => html(reply, await limiter.notice(request, reply)))
      app.get('/quiet', async (_request, reply) => html(reply, 'quiet'))
      app.get('/away', async (request, reply) => {
        await limiter.notice(request, reply)
        const { write } = request.query as { write?: string }
        if (write !== undefined) Object.assign(request.session, { messages: ['sign in first'] })
        return reply.redirect('/page')
      })
      app.get('/data', async (request, reply) => {
        const body = await limiter.signedOut(request)
        return reply.code(body?.data.status ?? 200).send(body ?? null)
      })
    },
  })

const koa: StartNoticeHost = (sessmgr, sessions, setup) => {
  const html = (ctx: Context, body: unknown) => {
    ctx.set(cachedAs(ctx.url))
    ctx.type = 'html'
    ctx.body = JSON.stringify(body ?? null)
  }
  return startKoaHost({
    sessmgr,
    sessions,
    ...setup,
    further: ({ limiter }) => ({
      'GET /page': async (ctx) => html(ctx, await limiter.notice(ctx, ctx)),
      'GET /quiet': (ctx) => html(ctx, 'quiet'),
      'GET /away': async (ctx) => {
        await limiter.notice(ctx, ctx)
        if (ctx.query.write !== undefined) Object.assign(ctx.session as object, { messages: ['sign in first'] })
        ctx.redirect('/page')
      },
      'GET /data': async (ctx) => {
        const body = await limiter.signedOut(ctx)
        ctx.status = body?.data.status ?? 200
        ctx.body = JSON.stringify(body ?? null)
      },
    }),
  })
}

/** An application without a framework, which clears the cookie of an ended session with whatever it answers. */
const explicit: StartNoticeHost = async (options, { sessions }) => {
  const limiter = createLimiter(options)
  onTestFinished(() => limiter.close())
  const calls = explicitCalls(limiter, { exists: (id) => sessions.has(id), destroy: (id) => sessions.delete(id) })

  async function stateOf(request: IncomingMessage, response: ServerResponse) {
    const sessionId = /\bsid=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
    if (sessionId === undefined) return {}
    const session = sessions.get(sessionId)
    const both = { sessionId, request, response }
    const state = session ? await calls.check({ userId: Number(session), ...both }) : await calls.missing(both)
    if (state.ended) response.appendHeader('Set-Cookie', 'sid=; Path=/; Max-Age=0')
    return state
  }

  const origin = await listen(async (request, response) => {
    const state = await stateOf(request, response)
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    const answer = (body: unknown, type = 'text/html') => {
      response.setHeaders(new Map(Object.entries(cachedAs(request.url))))
      response.setHeader('Content-Type', type).end(JSON.stringify(body ?? null))
    }
    if (pathname === '/page') return answer(await limiter.notice(request, response))
    if (pathname === '/away') {
      await limiter.notice(request, response)
      return void response.writeHead(302, { Location: '/page' }).end()
    }
    if (pathname === '/data') {
      const body = await limiter.signedOut(request)
      response.statusCode = body?.data.status ?? 200
      return answer(body, 'application/json')
    }
    if (pathname !== '/login') return answer(pathname === '/me' ? state : 'quiet')
    const form = new URLSearchParams(await text(request))
    const userId = authenticate(form.get('username') ?? '', form.get('password') ?? '')?.id ?? 0
    const sessionId = randomUUID()
    await calls.login({ userId, state, userAgent: request.headers['user-agent'] ?? null }, async () => {
      sessions.set(sessionId, String(userId))
      return { sessionId, ttlMs: 3_600_000 }
    })
    response.appendHeader('Set-Cookie', `sid=${sessionId}; Path=/`)
    answer({ signedIn: true })
  })
  return { limiter, origin, browser: () => new Browser(origin) }
}

/** One process of each kind of application. */
export const NOTICE_HOSTS: readonly (readonly [name: string, start: StartNoticeHost])[] = [
  ['Express', express],
  ['Fastify', fastify],
  ['Koa', koa],
  ['explicit calls', explicit],
]
