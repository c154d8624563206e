import express from 'express'
import session from 'express-session'
import { Passport } from 'passport'
import { Strategy } from 'passport-local'
import supertest from 'supertest'
import { expect, it, onTestFinished } from 'vitest'
import { memoryStore, type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import { fakeClock } from '../../src/testing.ts'
import { createApp, FORM, runBlock, userOf } from './recipe-app.ts'

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'

it('limits.md: a function gives each user a limit, and a filter exempts some', async () => {
  const limits: SessmgrOptions[] = []
  const names = { app: { use() {} }, sessmgr: (options: SessmgrOptions) => limits.push(options) }
  runBlock('limits', 1, { ...names, isPaying: (userId: string) => userId === 'alice' })
  const isStaff = (userId: string) => userId === 'root'
  const { app, limiter } = createApp((all) => runBlock('limits', 2, { ...all, isStaff }), limits[0])
  expect([await limiter.settings.maximumOf('alice'), await limiter.settings.maximumOf('bob')]).toEqual([5, 1])
  for (const username of ['bob', 'root']) {
    for (const _ of [1, 2])
      await supertest(app)
        .post('/login')
        .type('form')
        .send({ ...FORM, username })
  }
  expect([await limiter.sessions.count('bob'), await limiter.sessions.count('root')]).toEqual([1, 2])
})

it('limits.md: a second computer signs out the first one, and not the phone; a program has no label', async () => {
  const limits: SessmgrOptions[] = []
  runBlock('limits', 4, {
    app: { use() {} },
    sessmgr: (options: SessmgrOptions) => limits.push(options),
  })
  const { app } = createApp(() => {}, limits[0])
  const devices = [LINUX, PHONE, LINUX, 'curl/8.5.0'].map((userAgent) =>
    supertest.agent(app).set('User-Agent', userAgent),
  )
  for (const device of devices) await device.post('/login').type('form').send(FORM).expect(302)
  const states = await Promise.all(devices.map(async (device) => (await device.get('/me')).status))
  expect(states).toEqual([401, 200, 200, 200])
})

it('limits.md: each site has its own session of a user, and ends alone', async () => {
  const limits: SessmgrOptions[] = []
  runBlock('limits', 5, {
    app: { use() {} },
    siteOf: (host: string) => host,
    sessmgr: (options: SessmgrOptions) => limits.push(options),
  })
  const { app, limiter } = createApp(() => {}, limits[0])
  const sites = ['shop.example', 'blog.example', 'shop.example']
  const devices = sites.map((site) => supertest.agent(app).set('Host', site))
  for (const device of devices) await device.post('/login').type('form').send(FORM).expect(302)
  const states = () => Promise.all(devices.map(async (device) => (await device.get('/me')).status))
  expect(await states()).toEqual([401, 200, 200])
  await limiter.sessions.endAll('alice', { label: 'shop.example' })
  expect(await states()).toEqual([401, 200, 401])
})

it('lifetime.md: a function ends the sessions of some users at an earlier age', async () => {
  const limits: SessmgrOptions[] = []
  const isStaff = (userId: string) => userId === 'root'
  runBlock('lifetime', 1, { app: { use() {} }, isStaff, sessmgr: (options: SessmgrOptions) => limits.push(options) })
  const clock = fakeClock()
  const { app, limiter } = createApp(() => {}, { ...limits[0], store: memoryStore({ clock }) })
  for (const username of ['alice', 'root']) {
    await supertest(app)
      .post('/login')
      .type('form')
      .send({ ...FORM, username })
      .expect(302)
  }
  clock.advance(12 * 3_600_000)
  expect([await limiter.sessions.count('alice'), await limiter.sessions.count('root')]).toEqual([1, 0])
})

/** An application with the lines of devices.md, with Passport or without. */
function choosingApp(block: 0 | 1) {
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }))
  const passport = new Passport()
  passport.use(new Strategy((username, password, done) => done(null, password === 'secret' && userOf(username))))
  passport.serializeUser<unknown>((user, done) => done(null, (user as Express.User).id))
  passport.deserializeUser((id, done) => done(null, userOf(String(id))))
  const quiet = { warn() {}, error() {} }
  const findById = (id: unknown) => userOf(String(id))
  const host = { users: { findById, findByEmail() {}, findByLogin() {}, summary() {} }, can: () => false }
  const limited = (options: SessmgrOptions) => sessmgr({ ...options, logger: quiet })
  const names = { app, passport, host, sessmgr: limited }
  const limiter =
    block === 0
      ? (runBlock('devices', 3, names, 'limiter') as Sessmgr)
      : sessmgr({ settings: { maximum: 2, logic: 'ask' }, sessionUser: ({ userId }) => userId, logger: quiet })
  onTestFinished(() => limiter.close())
  if (block === 1) app.use(limiter)
  app.use(express.urlencoded({ extended: false }), express.json())
  const checkPassword = async ({ username }: typeof FORM) => ({ id: username })
  if (block === 1) runBlock('devices', 4, { app, limiter, checkPassword })
  else app.post('/login', passport.authenticate('local', { successRedirect: '/', failureRedirect: '/login' }))
  app.get('/me', (req, res) => void res.sendStatus(req.user || req.session.userId ? 200 : 401))
  return app
}

it.each([
  ['with Passport', 0],
  ['without Passport', 1],
] as const)('devices.md, %s: a browser and a script choose', async (_, block) => {
  const app = choosingApp(block)
  const login = (device: ReturnType<typeof supertest.agent>) => device.post('/login').type('form').send(FORM)
  const devices = Array.from({ length: 4 }, () => supertest.agent(app))
  const [laptop, phone, tablet, script] = devices as [
    (typeof devices)[0],
    (typeof devices)[0],
    (typeof devices)[0],
    (typeof devices)[0],
  ]
  for (const device of [laptop, phone]) await login(device).expect(302)
  await login(tablet).expect(303).expect('Location', '/login/choose')
  const { text } = await tablet.get('/login/choose').expect(200)
  const [, proof] = /name="proof" value="([^"]+)"/.exec(text) ?? []
  const [, end] = /name="end" value="([^"]+)"/.exec(text) ?? []
  await tablet.post('/login/choose').type('form').send({ proof, end }).expect(303).expect('Location', '/')
  const states = () => Promise.all(devices.map(async (device) => (await device.get('/me')).status))
  expect(await states()).toEqual([401, 200, 200, 401])
  if (block === 1) return
  const { body } = await login(script).accept('json').expect(409)
  const tokens = body.data.sessions.map(({ token }: { token: string }) => token)
  await script.post(body.data.choice_url).send({ end: tokens }).expect(200)
  expect(await states()).toEqual([401, 401, 401, 200])
})

it('limits.md: what the limit would do is reported, and it is enforced for some users', async () => {
  const lines: string[] = []
  const names = {
    app: { use() {} },
    console: { log: (line: string) => lines.push(line) },
    sessmgr: (options: SessmgrOptions) => sessmgr({ ...options, logger: { warn() {}, error() {} } }),
  }
  const limiter = runBlock('limits', 10, names, 'limiter') as Sessmgr
  runBlock('limits', 11, { limiter })
  const { app } = createApp(() => {}, {}, limiter)
  const login = (username: string) =>
    supertest(app)
      .post('/login')
      .type('form')
      .send({ ...FORM, username })
  for (const username of ['7', '20']) for (const _ of [1, 2, 3]) await login(username).expect(302)
  await login('7').expect(302)
  await login('20').expect(403)
  await limiter.close()
  expect(lines).toEqual(['7: refuse, with 3 of 3 sessions'])
})

it('getting-started.md, a second factor: the password alone takes no slot and signs nobody out', async () => {
  const names = { isCodeOf: async (_userId: string, code: unknown) => code === '123456' }
  const { app, limiter } = createApp((all) => runBlock('getting-started', 14, { ...all, ...names }), {
    settings: { maximum: 1 },
  })
  const step = (device: ReturnType<typeof supertest.agent>, path: string, form: object) =>
    device.post(path).type('form').send(form).expect(302)
  const [laptop, thief] = [supertest.agent(app), supertest.agent(app)]
  expect((await step(laptop, '/login', FORM)).headers.location).toBe('/login/code')
  expect((await step(laptop, '/login/code', { code: '123456' })).headers.location).toBe('/')
  await step(thief, '/login', FORM)
  expect((await step(thief, '/login/code', { code: '1' })).headers.location).toBe('/login')
  await thief.get('/me').expect(401)
  await laptop.get('/me').expect(200)
  expect(await limiter.sessions.count('alice')).toBe(1)
})

it('notice.md: a browser without its cookie gets back in, and an unused session makes room', async () => {
  const limits: SessmgrOptions[] = []
  runBlock('notice', 4, {
    app: { use() {} },
    sessmgr: (options: SessmgrOptions) => limits.push(options),
  })
  const clock = fakeClock()
  const { app, limiter } = createApp(() => {}, { ...limits[0], store: memoryStore({ clock }) })
  const login = (cookie = '') => supertest(app).post('/login').set('Cookie', cookie).type('form').send(FORM)
  const first = await login().expect(302)
  const device = String(first.headers['set-cookie']).match(/sessmgr_device=[^;]+/)?.[0]
  await login().expect(403)
  await login(device).expect(302)
  clock.advance(3_600_000)
  await login().expect(302)
  expect(await limiter.sessions.count('alice')).toBe(1)
})

it('fetch.md, a page on another origin: the app on its own origin signs in and ends a session; a page of another origin cannot', async () => {
  const limiter = sessmgr({ sessionUser: (data) => data.userId, settings: { maximum: 2 } })
  onTestFinished(() => limiter.close())
  const app = express()
  runBlock('fetch', 3, { app })
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.post('/login', (req, res, next) => {
    limiter.login(req, userOf('alice')).then(() => {
      Object.assign(req.session, { userId: 'alice' })
      res.sendStatus(204)
    }, next)
  })
  const requireSignIn: express.RequestHandler = (_req, _res, next) => next()
  runBlock('devices', 2, { app, limiter, requireSignIn, require: () => ({}) })

  const own = { Origin: 'https://app.example.com' }
  const preflight = await supertest(app).options('/devices/1').set(own).expect(204)
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': own.Origin,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET, POST, DELETE',
  })
  const [laptop, phone] = [supertest.agent(app), supertest.agent(app)]
  for (const device of [laptop, phone]) await device.post('/login').set(own).expect(204)
  const [session1] = await limiter.sessions.list('alice')
  const foreign = await phone.delete(`/devices/${session1?.token}`).set('Origin', 'https://evil.example').expect(403)
  expect(foreign.headers).not.toHaveProperty('access-control-allow-origin')
  await phone.delete(`/devices/${session1?.token}`).expect(403)
  await phone.delete(`/devices/${session1?.token}`).set(own).expect(204)
  expect(await limiter.sessions.count('alice')).toBe(1)
})
