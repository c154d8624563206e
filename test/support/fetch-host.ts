import { randomUUID } from 'node:crypto'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { onTestFinished } from 'vitest'
import { errorResponse, fetchCalls } from '../../src/fetch.ts'
import type { RequestState } from '../../src/index.ts'
import { Browser } from './browser.ts'
import { Gates } from './gates.ts'
import { createLimiter, type HostSetup, type HostUnderTest } from './host-under-test.ts'
import { JsonSessions } from './json-sessions.ts'
import { listen } from './listen.ts'
import { recordActions } from './record-actions.ts'
import { authenticate } from './users.ts'

const TTL_MS = 3_600_000
const CHOOSE = '/login/choose'

/**
 * Starts an application that passes a `Request`, on Hono with sessions of its own. It has `/me`, `/state`, `/nonce`,
 * `/page`, which shows the notice, `POST /login`, `POST /logout`, the REST routes and all pages.
 */
export async function startFetchHost(setup: HostSetup = {}): Promise<HostUnderTest> {
  const limiter = createLimiter(setup.sessmgr)
  const actions = recordActions(limiter.hooks)
  const sessions = new Map<string, number>()
  const errors: unknown[] = []
  const addresses = new WeakMap<Request, string | undefined>()
  const door = fetchCalls(limiter, {
    exists: (id) => sessions.has(id),
    destroy: (id) => sessions.delete(id),
    ip: (request) => addresses.get(request),
  })
  const app = new Hono<{ Bindings: HttpBindings; Variables: { state: RequestState } }>()

  app.use(async (c, next) => {
    addresses.set(c.req.raw, c.env.incoming.socket.remoteAddress)
    const sessionId = getCookie(c, 'sid') ?? ''
    const userId = sessions.get(sessionId)
    const known = userId !== undefined && (await door.check(c.req.raw, { userId, sessionId }))
    c.set('state', known || (sessionId ? await door.missing(c.req.raw, { sessionId }) : {}))
    if (c.var.state.ended) deleteCookie(c, 'sid')
    await next()
    for (const cookie of door.headers(c.req.raw).getSetCookie()) c.header('Set-Cookie', cookie, { append: true })
  })
  app.onError((error, c) => {
    errors.push(error)
    return errorResponse(error) ?? c.json({ code: null }, 500)
  })

  const create = (userId: number) => async () => {
    const sessionId = randomUUID()
    sessions.set(sessionId, userId)
    return { sessionId, ttlMs: TTL_MS }
  }
  /** Logs a user in. Resolves to the id of the new session, or to undefined if the login was refused. */
  async function logIn(request: Request, userId: number) {
    let created = ''
    const admission = await door.login(request, { userId }, async () => {
      const session = await create(userId)()
      created = session.sessionId
      return session
    })
    return { admission, created }
  }
  const choose = setup.choice && {
    ...setup.choice,
    async complete(
      request: Request,
      response: { appendHeader(name: string, value: string): void },
      user: { id: number },
    ) {
      const { created } = await logIn(request, user.id)
      response.appendHeader('Set-Cookie', `sid=${created}; Path=/; HttpOnly; SameSite=Lax`)
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

  app.post('/login', async (c) => {
    const { username = '', password = '' } = (await c.req.parseBody()) as Record<string, string>
    const { id } = authenticate(username, password) ?? {}
    if (id === undefined) return c.text('wrong', 401)
    const { admission, created } = await logIn(c.req.raw, id)
    if (admission.admitted) {
      setCookie(c, 'sid', created, { httpOnly: true, sameSite: 'Lax', path: '/' })
      return c.text('signed in')
    }
    if (!admission.choice || !choose) return c.text(admission.message, 403)
    if (c.req.header('accept')?.includes('json')) return tellChoice(c)
    c.header('Cache-Control', 'no-store')
    return c.redirect(CHOOSE, 303)
  })
  app.post('/logout', async (c) => {
    const { session } = c.var.state
    if (session) await door.logout({ userId: session.userId, sessionId: getCookie(c, 'sid') ?? '' })
    deleteCookie(c, 'sid')
    return c.body(null, 204)
  })
  app.get('/me', (c) => c.body(null, c.var.state.session ? 200 : 401))
  app.get('/state', (c) => c.json(c.var.state))
  app.get('/nonce', async (c) => c.text((await door.nonce(c.req.raw)) ?? ''))
  app.get('/page', async (c) => c.html(JSON.stringify((await door.notice(c.req.raw)) ?? null)))
  for (const [path, serve] of Object.entries(pages)) {
    app.all(`${path}/*`, async (c, next) => (await serve(c.req.raw)) ?? next())
  }
  app.get('/api/mine', (c) => c.text('mine'))

  onTestFinished(() => limiter.close())
  const origin = await listen(getRequestListener(app.fetch))
  return {
    origin,
    limiter,
    gates: new Gates(),
    sessions: new JsonSessions(),
    errors,
    actions,
    browser: () => new Browser(origin),
    sessionIdOf: (browser) => browser.cookies.get('sid')?.value,
  }
}
