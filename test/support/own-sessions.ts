import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Admission } from '../../src/explicit.ts'
import type { RequestState } from '../../src/index.ts'
import type { Gates } from './gates.ts'
import type { JsonSessions } from './json-sessions.ts'
import { authenticate } from './users.ts'

const COOKIE = { httpOnly: true, sameSite: 'Lax', path: '/' } as const

/** What an application of its own making keeps of a session. */
interface OwnSession {
  readonly userId?: number
  readonly cart?: readonly string[]
  readonly held?: string
}

export interface OwnEnv {
  Bindings: HttpBindings
  Variables: { id: string; session: OwnSession; state: RequestState }
}

/** How the application calls sessmgr. */
interface OwnCalls {
  /** Looks up the session of a user, or one that the store does not have. */
  stateOf(c: Context<OwnEnv>, sessionId: string, userId: number | undefined): Promise<RequestState>
  login(
    c: Context<OwnEnv>,
    userId: number,
    create: () => Promise<{ sessionId: string; ttlMs: number }>,
  ): Promise<Admission>
  logout(c: Context<OwnEnv>, userId: number): Promise<unknown>
  nonce(c: Context<OwnEnv>): Promise<string | undefined>
  /** Answers a refused login, instead of with the message alone. */
  refuse?(c: Context<OwnEnv>, admission: Admission): Response | Promise<Response> | undefined
}

/** Reads the session of each request, whose id is in the cookie `sid`, and clears the cookie of one that is over. */
export function readOwnSessions(app: Hono<OwnEnv>, sessions: JsonSessions, gates: Gates, calls: OwnCalls): void {
  app.use(async (c, next) => {
    const id = getCookie(c, 'sid') ?? ''
    const session = sessions.read(id) as OwnSession | undefined
    c.set('id', id)
    c.set('session', session ?? {})
    // A visitor's session is no business of sessmgr.
    const isKnown = id === '' || (session && session.userId === undefined)
    c.set('state', isKnown ? {} : await calls.stateOf(c, id, session?.userId))
    if (c.var.state.ended) deleteCookie(c, 'sid')
    void gates.at(c.req.query('arrival') ?? '').pass()
    await next()
  })
}

/** Adds what any application has: pages, a cart for anyone, a login, a logout, and a request that waits. */
export function addOwnRoutes(app: Hono<OwnEnv>, sessions: JsonSessions, gates: Gates, calls: OwnCalls): void {
  const store = sessions.forPromises()
  gates.at('open').open()
  app.get('/', (c) => c.text('public page'))
  app.get('/moved', (c) => c.redirect('/login'))
  app.get('/me', (c) => {
    const { session } = c.var.state
    return c.json({ id: session?.userId }, session ? 200 : 401)
  })
  app.get('/state', (c) => c.json(c.var.state))
  app.get('/nonce', async (c) => c.text((await calls.nonce(c)) ?? ''))
  app.get('/cart', (c) => c.json(c.var.session.cart ?? []))
  app.post('/cart', async (c) => {
    const { item = '' } = (await c.req.parseBody()) as Record<string, string>
    const id = c.var.id || randomUUID()
    await store.set(id, { ...c.var.session, cart: [...(c.var.session.cart ?? []), item] })
    setCookie(c, 'sid', id, COOKIE)
    return c.body(null, 204)
  })
  app.post('/login', async (c) => {
    const { username = '', password = '' } = (await c.req.parseBody()) as Record<string, string>
    const { id: userId } = authenticate(username, password) ?? {}
    if (userId === undefined) return c.text('wrong', 401)
    const sessionId = randomUUID()
    const admission = await calls.login(c, userId, async () => {
      await store.set(sessionId, { userId })
      return { sessionId, ttlMs: 3_600_000 }
    })
    if (!admission.admitted) return (await calls.refuse?.(c, admission)) ?? c.text(admission.message, 403)
    setCookie(c, 'sid', sessionId, COOKIE)
    await gates.at(c.req.query('gate') ?? 'open').pass()
    return c.json({ signedIn: true })
  })
  app.post('/logout', async (c) => {
    const { session } = c.var.state
    if (session) await calls.logout(c, Number(session.userId))
    deleteCookie(c, 'sid')
    return c.body(null, 204)
  })
  app.post('/hold/:gate', async (c) => {
    await gates.at(c.req.param('gate')).pass()
    await store.set(c.var.id, { ...c.var.session, held: 'late' })
    return c.body(null, 204)
  })
  app.get('/api/mine', (c) => c.text('mine'))
}
