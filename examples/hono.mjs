// Hono with its own sessions, using explicit calls. Sign in at http://127.0.0.1:3000 from two browsers: the first one
// is signed out.
import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { sessmgr } from 'sessmgr'
import { explicitCalls } from 'sessmgr/explicit'

const HOUR = 60 * 60 * 1000
const sessions = new Map() // use a session store that outlives the process
const limiter = sessmgr({ settings: { maximum: 1 } })
const calls = explicitCalls(limiter, { exists: (id) => sessions.has(id), destroy: (id) => sessions.delete(id) })
const server = new Hono()

server.use(async (c, next) => {
  const sessionId = getCookie(c, 'sid')
  const own = sessions.get(sessionId)
  if (own) {
    const { userId } = own
    c.set('state', await calls.check({ userId, sessionId, request: c.env.incoming }))
    if (c.var.state.session) await calls.touch({ userId, sessionId, ttlMs: HOUR })
  }
  if (sessionId && !c.var.state?.session) deleteCookie(c, 'sid')
  await next()
})

const form = `<form method="post" action="/login">
  <p><label>Name: any <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
server.get('/', (c) => c.html(c.var.state?.session ? 'You are signed in.' : form))
server.post('/login', async (c) => {
  const { username: userId, password } = await c.req.parseBody()
  if (password !== 'secret') return c.redirect('/')
  const sessionId = randomBytes(32).toString('base64url')
  const admission = await calls.login({ userId, replaces: getCookie(c, 'sid'), state: c.var.state }, async () => {
    sessions.set(sessionId, { userId })
    return { sessionId, ttlMs: HOUR }
  })
  if (!admission.admitted) return c.text(admission.message, 403)
  setCookie(c, 'sid', sessionId, { httpOnly: true, sameSite: 'Lax' }) // over HTTPS: secure: true
  return c.redirect('/')
})

serve({ fetch: server.fetch, port: 3000, hostname: '127.0.0.1' }, () => console.log('http://127.0.0.1:3000'))
