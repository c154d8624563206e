// Hono with its own sessions, on Node, Bun or Deno. Sign in at http://127.0.0.1:3000 from two browsers: the first one
// is signed out. Your devices are at /devices.
import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { sessmgr } from 'sessmgr'
import { errorResponse, fetchCalls } from 'sessmgr/fetch'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

const HOUR = 60 * 60 * 1000
const sessions = new Map() // use a session store that outlives the process
const limiter = sessmgr({ settings: { maximum: 1 } })
const calls = fetchCalls(limiter, { exists: (id) => sessions.has(id), destroy: (id) => sessions.delete(id) })
const devices = calls.serve('/devices', limiter.account({ loginUrl: '/' }))
const server = new Hono()

server.use(async (c, next) => {
  const request = c.req
  const sessionId = getCookie(c, 'sid')
  const own = sessions.get(sessionId)
  if (own) {
    const { userId } = own
    c.set('state', await calls.check(request, { userId, sessionId }))
    if (c.var.state.session) await calls.touch({ userId, sessionId, ttlMs: HOUR })
  } else if (sessionId) c.set('state', await calls.missing(request, { sessionId }))
  if (sessionId && !c.var.state.session) deleteCookie(c, 'sid')
  await next()
  for (const [name, value] of calls.headers(request)) c.header(name, value, { append: true })
})
server.onError((error) => errorResponse(error) ?? new Response('Something went wrong.', { status: 500 }))
server.all('/devices', async (c) => (await devices(c.req)) ?? c.notFound())

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
server.get('/', async (c) => {
  if (c.var.state?.session) return c.html('You are signed in.')
  const notice = await calls.notice(c.req)
  return c.html((notice?.html ?? '') + form)
})
server.post('/login', async (c) => {
  const { username, password } = await c.req.parseBody()
  const user = password === 'secret' && findUser(username)
  if (!user) return c.redirect('/')
  const userId = user.id
  const sessionId = randomBytes(32).toString('base64url')
  const admission = await calls.login(c.req, { userId }, async () => {
    sessions.set(sessionId, { userId })
    return { sessionId, ttlMs: HOUR }
  })
  if (!admission.admitted) return c.text(admission.message, 403)
  setCookie(c, 'sid', sessionId, { httpOnly: true, sameSite: 'Lax' }) // over HTTPS: secure: true
  return c.redirect('/')
})

const { Bun, Deno } = globalThis
const at = { port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }
if (Bun) Bun.serve({ ...at, fetch: server.fetch })
else if (Deno) Deno.serve(at, server.fetch)
else serve({ ...at, fetch: server.fetch }, () => console.log('http://127.0.0.1:3000'))
