// better-auth in Hono. Sign in at http://127.0.0.1:3000 from two browsers: the first one is signed out.
import { serve } from '@hono/node-server'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { Hono } from 'hono'
import { sessmgr } from 'sessmgr'
import { sessionLimit } from 'sessmgr/better-auth'

const limiter = sessmgr({ settings: { maximum: 1 } })
const auth = betterAuth({
  baseURL: 'http://127.0.0.1:3000',
  secret: 'change this: at least 32 random characters',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }), // use a database
  emailAndPassword: { enabled: true, autoSignIn: false, minPasswordLength: 6 },
  plugins: [sessionLimit(limiter)],
})
const emailOf = (name) => `${name}@example.com`
await auth.api.signUpEmail({ body: { name: 'alice', email: emailOf('alice'), password: 'secret' } })

const server = new Hono()
const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
server.get('/', async (c) => {
  const own = await auth.api.getSession({ headers: c.req.raw.headers })
  return c.html(own ? 'You are signed in.' : form)
})
server.post('/login', async (c) => {
  const { username, password } = await c.req.parseBody()
  const body = { email: emailOf(username), password }
  const { headers } = await auth.api.signInEmail({ body, headers: c.req.raw.headers, asResponse: true })
  for (const cookie of headers.getSetCookie()) c.header('set-cookie', cookie, { append: true })
  return c.redirect('/')
})
server.all('/api/auth/*', (c) => auth.handler(c.req.raw))

serve({ fetch: server.fetch, port: 3000, hostname: '127.0.0.1' }, () => console.log('http://127.0.0.1:3000'))
