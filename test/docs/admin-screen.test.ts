import express from 'express'
import session from 'express-session'
import { Passport } from 'passport'
import { Strategy } from 'passport-local'
import supertest from 'supertest'
import { expect, it, onTestFinished } from 'vitest'
import { type Host, type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import { runBlock } from './recipe-app.ts'

it('admin-screen.md: with the host, the administrator opens the screen and finds people by name; others may not', async () => {
  const passport = new Passport()
  const host: { current?: Host | undefined } = {}
  const limiters: Sessmgr[] = []
  passport.use(
    new Strategy((username, _password, done) => {
      Promise.resolve(host.current?.users.findByLogin(username)).then((user) => done(null, user as Express.User), done)
    }),
  )
  passport.serializeUser<unknown>((user, done) => done(null, (user as unknown as { id: string }).id))
  passport.deserializeUser((id, done) => done(null, { id } as unknown as Express.User))
  const made = (options: SessmgrOptions) => {
    host.current = options.host
    const limiter = sessmgr({ ...options, logger: { warn() {}, error() {} } })
    limiters.push(limiter)
    onTestFinished(() => limiter.close())
    return limiter
  }
  const sessionStore = new session.MemoryStore()
  const app = express()
  app.use(session({ store: sessionStore, secret: 'test', resave: false, saveUninitialized: false }))
  const names = { app, passport, sessionStore, require: () => ({ sessmgr: made }) }
  const users = runBlock('admin-screen', 0, names, 'users') as object[]
  users.push({ id: 'u2', login: 'bob', name: 'Bob', email: 'bob@example.test', isAdmin: false })
  app.use(express.urlencoded({ extended: false }))
  app.post('/login', passport.authenticate('local'), (_req, res) => void res.sendStatus(204))

  const [alice, bob] = [supertest.agent(app), supertest.agent(app)]
  await alice.post('/login').type('form').send({ username: 'ALICE', password: 'x' }).expect(204)
  await bob.post('/login').type('form').send({ username: 'bob', password: 'x' }).expect(204)
  await supertest(app).get('/admin').expect(302)
  await bob.get('/admin').expect(403)
  await alice.get('/admin').expect(200)
  const name = await limiters[0]?.passwords.create('u1', 'test')
  const { body } = await supertest(app)
    .get('/api/sessmgr/v1/sessions?user=alice@example.test')
    .auth('alice', String(name?.password))
    .expect(200)
  expect(body).toMatchObject({
    user: { id: 'u1', login: 'alice', display_name: 'Alice' },
    sessions: [{ current: false }],
  })
  await supertest(app).get('/api/sessmgr/v1/people').auth('alice', String(name?.password)).expect(200)
})
