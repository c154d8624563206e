// JWT in Express, without a session middleware. Sign in at http://127.0.0.1:3000 from two browsers: the first one is
// signed out.
import { parseCookie } from 'cookie'
import express from 'express'
import { jwtVerify, SignJWT } from 'jose'
import { sessmgr } from 'sessmgr'
import { tokenSessions } from 'sessmgr/jwt'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

const keyOf = (text) => new TextEncoder().encode(text)
const accessKey = keyOf('change me: 32 characters or more')
const refreshKey = keyOf('change me too: not the same key!')

const tokens = tokenSessions(sessmgr({ settings: { maximum: 1 } }))

async function sign({ rot, iat, exp, ...session }) {
  const access = new SignJWT(session).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('10m')
  const refresh = new SignJWT({ ...session, rot, iat, exp }).setProtectedHeader({ alg: 'HS256' })
  return { access: await access.sign(accessKey), refresh: await refresh.sign(refreshKey) }
}
const read = async (token = '', key) => (await jwtVerify(token, key).catch(() => undefined))?.payload ?? {}

const cookie = { httpOnly: true, sameSite: 'lax' } // and secure: true behind HTTPS
function setCookies(res, { access, refresh }) {
  res.cookie('access', access, cookie).cookie('refresh', refresh, { ...cookie, maxAge: 30 * 24 * 60 * 60 * 1000 })
}

const server = express()
server.use(express.urlencoded())
server.use(async (req, res, next) => {
  const { access, refresh } = parseCookie(req.headers.cookie ?? '')
  const claims = await read(refresh, refreshKey)
  const { session } = await tokens.check(await read(access, accessKey), req)
  const refreshed = !session && claims.sid ? await tokens.refresh(claims, sign) : undefined
  if (refreshed?.live) setCookies(res, refreshed.tokens)
  res.locals.isSignedIn = Boolean(session ?? refreshed?.live)
  res.locals.claims = claims
  next()
})

const form = `<form method="post" action="/login">
  <p><label>Name: alice <input name="username"></label>
  <p><label>Password: secret <input name="password" type="password"></label>
  <p><button>Sign in</button>
</form>`
server.get('/', (_req, res) => void res.send(res.locals.isSignedIn ? 'You are signed in.' : form))
server.post('/login', async (req, res) => {
  const { username, password } = req.body
  const user = password === 'secret' && findUser(username)
  if (user) {
    const login = { userId: user.id, ip: req.ip ?? null, userAgent: req.get('user-agent') ?? null }
    const admission = await tokens.login({ ...login, replaces: res.locals.claims.sid }, sign)
    if (!admission.admitted)
      return void res.status(403).json({ code: 'login_limit_reached', message: admission.message })
    setCookies(res, admission.tokens)
  }
  res.redirect('/')
})

server.listen(3000, '127.0.0.1', (error) => {
  if (error) throw error
  console.log('http://127.0.0.1:3000')
})
