import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { onTestFinished } from 'vitest'
import type { Admission } from '../../src/explicit.ts'
import { errorResponse, fetchCalls } from '../../src/fetch.ts'
import { Browser } from './browser.ts'
import { Gates } from './gates.ts'
import { createLimiter, type HostSetup, type HostUnderTest } from './host-under-test.ts'
import { JsonSessions } from './json-sessions.ts'
import { listen } from './listen.ts'
import { addOwnRoutes, type OwnEnv, readOwnSessions } from './own-sessions.ts'
import { recordActions } from './record-actions.ts'

const CHOOSE = '/login/choose'

/** Starts an application that passes a `Request`, on Hono with sessions of its own. `/page` shows the notice. */
export async function startFetchHost(setup: HostSetup = {}): Promise<HostUnderTest> {
  const { sessions = new JsonSessions() } = setup
  const limiter = createLimiter(setup.sessmgr)
  const actions = recordActions(limiter.hooks)
  const gates = new Gates()
  const errors: unknown[] = []
  const addresses = new WeakMap<Request, string | undefined>()
  const store = sessions.forPromises()
  const door = fetchCalls(limiter, {
    exists: (id) => sessions.sessions.has(id),
    destroy: store.destroy,
    ip: (request) => addresses.get(request),
  })
  const choose = setup.choice && {
    ...setup.choice,
    async complete(
      request: Request,
      response: { appendHeader(name: string, value: string): void },
      { id: userId }: { id: number },
    ) {
      const sessionId = crypto.randomUUID()
      await door.login(request, { userId }, async () => {
        await store.set(sessionId, { userId })
        return { sessionId, ttlMs: 3_600_000 }
      })
      response.appendHeader('Set-Cookie', `sid=${sessionId}; Path=/; HttpOnly; SameSite=Lax`)
    },
  }
  const pages = {
    '/api': door.serve('/api', limiter.router()),
    '/admin': door.serve('/admin', limiter.admin()),
    '/account/sessions': door.serve('/account/sessions', limiter.account(setup.account)),
    ...(choose && { [CHOOSE]: door.serve(CHOOSE, limiter.choice(choose)) }),
  }

  /** Asks the choice page for the list that a script gets. */
  async function tellChoice(c: Context): Promise<Response> {
    const cookies = door.headers(c.req.raw).getSetCookie()
    const cookie = cookies.map((each) => each.split(';', 1)[0]).join('; ')
    const url = new URL(CHOOSE, c.req.url)
    const asked = new Request(url, { headers: { ...c.req.header(), accept: 'application/json', cookie } })
    const answer = (await pages[CHOOSE]?.(asked)) ?? new Response()
    for (const one of cookies) answer.headers.append('Set-Cookie', one)
    return answer
  }

  const bind = setup.bound && door.serve('', setup.bound(limiter))
  const calls: Parameters<typeof addOwnRoutes>[3] = {
    async stateOf(c, sessionId, userId) {
      if (userId === undefined) return door.missing(c.req.raw, { sessionId })
      return door.check(c.req.raw, { userId, sessionId })
    },
    login: (c, userId, create) => door.login(c.req.raw, { userId }, create),
    logout: (c, userId) => door.logout({ userId, sessionId: c.var.id }),
    nonce: (c) => door.nonce(c.req.raw),
    refuse(c, admission: Admission) {
      if (admission.admitted || !admission.choice || !choose) return undefined
      if (c.req.header('accept')?.includes('json')) return tellChoice(c)
      c.header('Cache-Control', 'no-store')
      return c.redirect(CHOOSE, 303)
    },
  }
  const app = new Hono<OwnEnv>()
  app.use(async (c, next) => {
    addresses.set(c.req.raw, c.env.incoming.socket.remoteAddress)
    await next()
    for (const [name, value] of door.headers(c.req.raw)) c.header(name, value, { append: true })
  })
  readOwnSessions(app, sessions, gates, calls)
  if (bind) app.use(async (c, next) => (await bind(c.req.raw)) ?? next())
  app.onError((error, c) => {
    errors.push(error)
    return errorResponse(error) ?? c.json({ code: null }, 500)
  })
  for (const [path, serve] of Object.entries(pages)) {
    app.all(`${path}/*`, async (c, next) => (await serve(c.req.raw)) ?? next())
  }
  app.get('/page', async (c) => c.html(JSON.stringify((await door.notice(c.req.raw)) ?? null)))
  addOwnRoutes(app, sessions, gates, calls)

  onTestFinished(() => limiter.close())
  const origin = await listen(getRequestListener(app.fetch))
  const sessionIdOf = (browser: Browser) => browser.cookies.get('sid')?.value
  return { origin, limiter, gates, sessions, errors, actions, browser: () => new Browser(origin), sessionIdOf }
}
