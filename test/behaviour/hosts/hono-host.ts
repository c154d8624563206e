import { randomUUID } from 'node:crypto'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import type { AccountOptions, SessmgrOptions } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { Gates } from '../../support/gates.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { listen } from '../../support/listen.ts'
import { recordActions } from '../../support/record-actions.ts'
import { authenticate } from '../../support/users.ts'

/** What an application of its own making keeps of a session. */
interface OwnSession {
  userId: number
  held?: string
}

const TTL_MS = 3_600_000

/**
 * Starts an application on Hono with sessions of its own: `/me` for users, `/state`, `/nonce`, `POST /login`,
 * `POST /logout`, `POST /hold/<gate>`, which waits and then writes its session, the REST routes below `/api` beside
 * `/api/mine`, and the admin screen below `/admin`.
 */
export async function startHonoHost(
  options: SessmgrOptions = {},
  sessions = new Map<string, OwnSession>(),
  account: AccountOptions = {},
) {
  const limiter = createLimiter(options)
  const actions = recordActions(limiter.hooks)
  const gates = new Gates()
  const calls = explicitCalls(limiter, { exists: (id) => sessions.has(id), destroy: (id) => sessions.delete(id) })
  const app = new Hono<{ Bindings: HttpBindings; Variables: { state: Awaited<ReturnType<typeof calls.check>> } }>()

  app.use(async (c, next) => {
    const sessionId = getCookie(c, 'sid')
    const session = sessionId === undefined ? undefined : sessions.get(sessionId)
    c.set('state', sessionId === undefined ? {} : { ended: { reason: 'missing' } })
    if (sessionId !== undefined && session) {
      const request = c.env.incoming
      c.set('state', await calls.check({ userId: session.userId, sessionId, request }))
    }
    if (c.var.state.ended) deleteCookie(c, 'sid')
    void gates.at(c.req.query('arrival') ?? '').pass()
    await next()
  })
  app.onError((error, c) => {
    const { code, status = 503 } = error as { code?: string; status?: number }
    return c.json({ code }, status as 503)
  })
  app.post('/login', async (c) => {
    const { username, password } = (await c.req.parseBody()) as Record<string, string>
    const user = authenticate(username ?? '', password ?? '')
    if (!user?.id) return c.text('wrong', 401)
    const userId = user.id
    const sessionId = randomUUID()
    const userAgent = c.req.header('user-agent') ?? null
    const ip = c.env.incoming.socket.remoteAddress ?? null
    const login = {
      userId,
      replaces: getCookie(c, 'sid'),
      state: c.var.state,
      ip,
      userAgent,
      device: options.device ? { cookies: c.req.header('cookie'), secure: false } : undefined,
    }
    const admission = await calls.login(login, async () => {
      sessions.set(sessionId, { userId })
      return { sessionId, ttlMs: TTL_MS }
    })
    if (!admission.admitted) return c.text(admission.message, 403)
    if (admission.deviceCookie) c.header('Set-Cookie', admission.deviceCookie, { append: true })
    setCookie(c, 'sid', sessionId, { httpOnly: true, sameSite: 'Lax', path: '/' })
    const { session: left } = c.var.state
    if (left && left.userId !== userId) {
      await calls.logout({ userId: left.userId, sessionId: getCookie(c, 'sid') ?? '' }).catch(console.warn)
    }
    return c.text('signed in')
  })
  app.post('/logout', async (c) => {
    const { session } = c.var.state
    const sessionId = getCookie(c, 'sid')
    if (session && sessionId !== undefined) await calls.logout({ userId: session.userId, sessionId })
    deleteCookie(c, 'sid')
    return c.body(null, 204)
  })
  app.post('/hold/:gate', async (c) => {
    await gates.at(c.req.param('gate')).pass()
    const userId = c.var.state.session?.userId as number
    sessions.set(getCookie(c, 'sid') ?? '', { userId, held: 'late' })
    return c.body(null, 204)
  })
  app.get('/me', (c) => c.body(null, c.var.state.session ? 200 : 401))
  app.get('/state', (c) => c.json(c.var.state))
  app.get('/nonce', async (c) => c.text((await limiter.nonce(c.env.incoming)) ?? ''))
  const mounted = {
    '/api': limiter.router(),
    '/admin': limiter.admin({ path: '/admin' }),
    '/account/sessions': limiter.account({ path: '/account/sessions', ...account }),
  }
  for (const [path, serveIt] of Object.entries(mounted)) {
    app.all(`${path}/*`, async (c, next) => {
      const { incoming, outgoing } = c.env
      const { url = '' } = incoming
      incoming.url = url.slice(path.length)
      const isAnswered = await new Promise<boolean>((resolve, reject) => {
        outgoing.on('close', () => resolve(true))
        serveIt(incoming, outgoing, (error) => (error ? reject(error) : resolve(false)))
      })
      incoming.url = url
      return isAnswered ? RESPONSE_ALREADY_SENT : next()
    })
  }
  app.get('/api/mine', (c) => c.text('mine'))

  onTestFinished(() => limiter.close())
  const origin = await listen(getRequestListener(app.fetch))
  return { origin, limiter, calls, sessions, gates, actions, browser: () => new Browser(origin) }
}
