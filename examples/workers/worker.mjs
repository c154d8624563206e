// Hono on Cloudflare Workers, with its sessions and those of sessmgr in a Durable Object. Sign in from two browsers: the
// first one is signed out.
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { sessmgr } from 'sessmgr'
import { documentStore } from 'sessmgr/document'
import { errorResponse, fetchCalls } from 'sessmgr/fetch'
import { rowsDriver } from './rows.mjs'

export { Rows } from './rows.mjs'

const HOUR = 60 * 60 * 1000
const server = new Hono()

// A Worker may use what one request has opened only in this request, so each creates its own limiter.
server.use(async (c, next) => {
  const rows = c.env.ROWS.get(c.env.ROWS.idFromName('all'))
  const store = documentStore(rowsDriver(rows))
  const limiter = sessmgr({ store, settings: { maximum: 1 }, secret: c.env.SESSMGR_SECRET })
  const calls = fetchCalls(limiter, {
    exists: async (id) => Boolean(await rows.readSession(id)),
    destroy: (id) => rows.deleteSession(id),
    ip: (request) => request.headers.get('cf-connecting-ip'),
  })
  c.set('rows', rows)
  c.set('calls', calls)
  const sessionId = getCookie(c, 'sid')
  const own = sessionId && (await rows.readSession(sessionId))
  if (own) c.set('state', await calls.check(c.req, { userId: own.userId, sessionId }))
  else if (sessionId) c.set('state', await calls.missing(c.req, { sessionId }))
  if (sessionId && !c.var.state.session) deleteCookie(c, 'sid')
  await next()
  for (const cookie of calls.headers(c.req).getSetCookie()) c.header('Set-Cookie', cookie, { append: true })
})
server.onError((error) => {
  console.error(error)
  return errorResponse(error) ?? new Response('Something went wrong.', { status: 500 })
})

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
server.get('/', async (c) => {
  if (c.var.state?.session) return c.html('You are signed in.')
  const notice = await c.var.calls.notice(c.req)
  return c.html((notice?.html ?? '') + form)
})
server.post('/login', async (c) => {
  const { username, password } = await c.req.parseBody()
  if (username !== 'alice' || password !== 'secret') return c.redirect('/')
  const sessionId = crypto.randomUUID()
  const admission = await c.var.calls.login(c.req, { userId: username }, async () => {
    await c.var.rows.writeSession(sessionId, { userId: username }, HOUR)
    return { sessionId, ttlMs: HOUR }
  })
  if (!admission.admitted) return c.text(admission.message, 403)
  setCookie(c, 'sid', sessionId, { httpOnly: true, secure: true, sameSite: 'Lax' })
  return c.redirect('/')
})

export default server
