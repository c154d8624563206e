import assert from 'node:assert'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import session, { MemoryStore } from 'express-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { sessmgr } from 'sessmgr'

const app = express()
const store = new MemoryStore()
const secret = 'of the consumer'
passport.use(new Strategy((_username, _password, done) => done(null, { id: 2 })))
passport.serializeUser((user, done) => done(null, (user as { id: number }).id))
passport.deserializeUser((id: number, done) => done(null, { id }))
// the snippet
app.post('/login', express.urlencoded({ extended: false }), passport.authenticate('local'), (_req, res) => {
  res.sendStatus(204)
})
app.get('/me', (req, res) => void res.sendStatus(req.user ? 200 : 401))

async function check() {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cookies: string[] = []
  for (let browser = 0; browser < 3; browser += 1) {
    const body = new URLSearchParams({ username: 'alice', password: 'any' })
    const response = await fetch(`${origin}/login`, { method: 'POST', body })
    cookies.push(response.headers.get('set-cookie')?.split(';')[0] ?? '')
  }
  const answers = await Promise.all(cookies.map((cookie) => fetch(`${origin}/me`, { headers: { cookie } })))
  assert.deepStrictEqual(
    answers.map(({ status }) => status),
    [401, 200, 200],
  )
  server.close()
  server.closeAllConnections()
}

check()
