// Koa. Sign in at http://127.0.0.1:3000 from two browsers: the first one is signed out.
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import koaSession from 'koa-session'
import { sessmgr } from 'sessmgr'
import { koaSessmgr } from 'sessmgr/koa'

class MemoryStore {
  #sessions = new Map()
  get = async (id) => this.#sessions.get(id)
  set = async (id, data) => void this.#sessions.set(id, data)
  destroy = async (id) => void this.#sessions.delete(id)
}

const limiter = sessmgr({ sessionUser: ({ userId }) => userId, settings: { maximum: 1 } })

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

const server = new Koa()
server.keys = ['change me']
server.use(koaSession({ store: new MemoryStore(), sameSite: 'lax' }, server))
server.use(koaSessmgr(limiter, server)) // before the login route
server.use(bodyParser())

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
server.use(async (ctx) => {
  if (ctx.path === '/') ctx.body = ctx.session.userId ? 'You are signed in.' : form
  if (ctx.method !== 'POST' || ctx.path !== '/login') return
  const { username, password } = ctx.request.body
  const user = password === 'secret' && findUser(username)
  if (user) {
    await limiter.login(ctx, user) // rejects when the limit refuses the login
    ctx.session.userId = user.id
  }
  ctx.redirect('/')
})

server.listen(3000, '127.0.0.1', () => console.log('http://127.0.0.1:3000'))
