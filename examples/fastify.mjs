// Fastify. Sign in at http://127.0.0.1:3000 from two browsers: the first one is signed out.
import fastifyCookie from '@fastify/cookie'
import fastifyFormbody from '@fastify/formbody'
import fastifySession from '@fastify/session'
import Fastify from 'fastify'
import { sessmgr } from 'sessmgr'
import { fastifySessmgr } from 'sessmgr/fastify'

const limiter = sessmgr({ sessionUser: ({ userId }) => userId, settings: { maximum: 1 } })

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

const server = Fastify()
await server.register(fastifyFormbody)
await server.register(fastifyCookie)
await server.register(fastifySession, {
  secret: 'change me: 32 characters or more',
  saveUninitialized: false,
  cookie: { secure: 'auto', sameSite: 'lax', maxAge: 24 * 60 * 60 * 1000 },
})
await server.register(fastifySessmgr, { limiter }) // before the login route

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
server.get('/', async (request, reply) => {
  return reply.type('text/html').send(request.session.userId ? 'You are signed in.' : form)
})
server.post('/login', async (request, reply) => {
  const { username, password } = request.body
  const user = password === 'secret' && findUser(username)
  if (user) {
    await limiter.login(request, user) // a fresh session; rejects when the limit refuses the login
    request.session.userId = user.id
  }
  return reply.redirect('/')
})

console.log(await server.listen({ port: 3000, host: '127.0.0.1' }))
