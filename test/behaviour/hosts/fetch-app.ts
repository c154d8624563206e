import { Hono } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { onTestFinished } from 'vitest'
import { fetchCalls } from '../../../src/fetch.ts'
import { type SessmgrOptions, sessmgr } from '../../../src/index.ts'

const SITE = 'https://app.test'

/** An application without a server, which any runtime can call, on sessions of its own. */
export function startFetchApp(options: SessmgrOptions = {}) {
  const limiter = sessmgr({ logger: { warn() {}, error() {} }, ...options })
  onTestFinished(() => limiter.close())
  const sessions = new Map<string, string>()
  const stores = { exists: (id: string) => sessions.has(id), destroy: (id: string) => sessions.delete(id) }
  const door = fetchCalls(limiter, stores)
  const devices = door.serve('/devices', limiter.account({ path: '/devices', loginUrl: '/login' }))
  const app = new Hono<{ Variables: { user: string } }>()
  app.use(async (c, next) => {
    const sessionId = getCookie(c, 'sid') ?? ''
    const userId = sessions.get(sessionId)
    const state = userId === undefined ? undefined : await door.check(c.req.raw, { userId, sessionId })
    if (state?.session) c.set('user', String(state.session.userId))
    await next()
  })
  app.post('/login', async (c) => {
    const sessionId = crypto.randomUUID()
    const admission = await door.login(c.req.raw, { userId: 'ada' }, async () => {
      sessions.set(sessionId, 'ada')
      return { sessionId, ttlMs: 3_600_000 }
    })
    if (!admission.admitted) return c.text(admission.message, 403)
    setCookie(c, 'sid', sessionId)
    return c.text('in')
  })
  app.get('/me', (c) => c.text(c.var.user ?? '', c.var.user ? 200 : 401))
  app.all('/devices', async (c) => (await devices(c.req.raw)) ?? c.notFound())
  const send = (path: string, cookie = '', init: RequestInit = {}) =>
    app.request(SITE + path, { ...init, headers: { cookie, ...init.headers } })
  const logIn = async () =>
    (await send('/login', '', { method: 'POST' })).headers.get('set-cookie')?.split(';')[0] ?? ''
  const live = async (cookies: readonly string[]) =>
    (await Promise.all(cookies.map((cookie) => send('/me', cookie)))).filter(({ status }) => status === 200).length
  return { limiter, sessions, stores, send, logIn, live }
}
