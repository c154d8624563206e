import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import express from 'express'
import session from 'express-session'
import { Passport } from 'passport'
import supertest from 'supertest'
import { expect, it, onTestFinished } from 'vitest'
import * as explicitDoor from '../../src/explicit.ts'
import { deviceName, memoryStore, type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import * as testingDoor from '../../src/testing.ts'
import { asCommonJs } from './newcomer-programs.ts'
import { codeBlocks, pageAt, ROOT } from './pages.ts'
import { createApp, devicesOf, FORM, type Names, runBlock, userOf } from './recipe-app.ts'

const nodeRequire = createRequire(import.meta.url)

it('devices.md: users see their sessions on a page, end one there, and a script gets the names', async () => {
  const { app, limiter } = createApp((names) => {
    runBlock('devices', 0, { ...names, app: { use: (...args: never[]) => args.length > 1 && names.app.use(...args) } })
    const requireSignIn: express.RequestHandler = (_req, _res, next) => next()
    runBlock('devices', 2, { ...names, require: () => ({ deviceName }), requireSignIn })
  })
  const [laptop, phone] = await devicesOf(app, 2)
  await supertest(app).get('/account/sessions').expect(303)
  const { text } = await phone.get('/account/sessions').expect(200)
  const [, proof] = /name="proof" value="([^"]+)"/.exec(text) ?? []
  const [, end] = /name="end" value="([^"]+)"/.exec(text) ?? []
  await phone.post('/account/sessions').type('form').send({ proof, end }).expect(303)
  await laptop.get('/me').expect(401)
  const { body } = await phone.get('/devices').set('User-Agent', 'none').expect(200)
  expect(body).toMatchObject([{ name: null, isThis: true }])
  expect(await limiter.sessions.count('alice')).toBe(1)
  await phone.delete('/devices/unknown').expect(404)
  await phone.delete(`/devices/${body[0].token}`).expect(204)
  await phone.get('/devices').expect(401)
})

it.each([
  ['/account/sessions?page=2', '/account/sessions?page=2'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/.//evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
])('devices.md, decision 86: after a login with redirect_to %j, the browser goes to %s', async (given, target) => {
  const { app } = createApp((names) => void runBlock('devices', 1, names))
  const answer = await supertest(app)
    .post('/login')
    .type('form')
    .send({ ...FORM, redirect_to: given })
  expect([answer.status, answer.headers.location]).toEqual([302, target])
})

it('notice.md: a login from a second browser sends one mail, unless the user has had enough of them', async () => {
  const mails: { to: string; text: string }[] = []
  const names = {
    findUser: async (id: string) => ({ email: `${id}@example.com`, wantsLoginMail: id === 'alice' }),
    countLoginMails: async () => mails.length,
    sendMail: async (mail: { to: string; text: string }) => void mails.push(mail),
  }
  const { app, limiter } = createApp(
    (all) => runBlock('notice', 5, { ...all, ...names, require: () => ({ deviceName }) }),
    { device: true },
  )
  const [laptop, phone] = await devicesOf(app, 2)
  for (const device of [laptop, phone]) await device.post('/login').type('form').send(FORM).expect(302)
  await limiter.close()
  expect(mails).toEqual([
    expect.objectContaining({ to: 'alice@example.com', text: expect.stringContaining('an unknown device') }),
  ])
  for (const username of ['bob', 'bob', 'alice', 'alice', 'alice', 'alice']) {
    const form = { ...FORM, username }
    await supertest(app).post('/login').type('form').send(form).expect(302)
    await limiter.close()
  }
  expect(mails).toHaveLength(3)
})

it('notice.md: the page and the JSON API know the reason', async () => {
  const { app, limiter } = createApp((names) => {
    runBlock('notice', 0, names)
    runBlock('notice', 2, names)
  })
  const [laptop, phone] = await devicesOf(app, 2)
  await laptop.get('/api/me').expect(200, { id: 'alice' })
  await limiter.sessions.endAll('alice')
  const { body } = await laptop.get('/api/me').set('Sec-Fetch-Dest', 'empty').expect(401)
  expect(body).toMatchObject({ code: 'session_ended', data: { status: 401, reason: 'missing', kind: 'app' } })
  const page = await phone.get('/me').accept('html').expect(401)
  expect(page.text).toContain('<strong>You were signed out on this device.</strong>')
  await supertest(app).get('/api/me').expect(401, { code: 'not_signed_in' })
})

it('getting-started.md: in an existing app, a login of your own counts, and block sends the next one to a page that says so', async () => {
  const app = express()
  const sessionStore = new session.MemoryStore()
  app.use(session({ store: sessionStore, secret: 'test', resave: false, saveUninitialized: false }))
  app.use(express.urlencoded({ extended: false }))
  let limiter: unknown
  const limited = (options: SessmgrOptions) => {
    limiter = sessmgr({ ...options, settings: { maximum: 1, logic: 'block' }, logger: { warn() {}, error() {} } })
    return limiter
  }
  runBlock('getting-started', 9, { app, sessionStore, sessmgr: limited })
  runBlock('notice', 0, { app, limiter })
  const checkPassword = async ({ username, password }: typeof FORM) => password === 'secret' && { id: username }
  runBlock('getting-started', 10, { app, checkPassword })
  runBlock('getting-started', 12, { app })
  app.get('/cart', (req, res) => void res.send(Object.assign(req.session, { cart: 1 }) && ''))
  app.get('/me', (req, res) => void res.status('userId' in req.session ? 200 : 401).send(res.locals.notice?.html))
  const errors: unknown[] = []
  runBlock('getting-started', 11, { app })
  app.use(((error, _req, _res, next) => next(errors.push(error))) as express.ErrorRequestHandler)
  const post = async (device: ReturnType<typeof supertest.agent>, path: string, form = FORM) =>
    (await device.post(path).type('form').send(form).expect(302)).headers.location
  const [laptop, phone, visitor] = [supertest.agent(app), supertest.agent(app), supertest.agent(app)]
  expect(await post(laptop, '/login', { ...FORM, password: 'x' })).toBe('/login')
  expect(await post(laptop, '/login')).toBe('/')
  await visitor.get('/cart').expect(200)
  for (const refused of [phone, visitor]) {
    expect(await post(refused, '/login')).toBe('/login?full')
    await refused.get('/me').accept('html').expect(401, '')
  }
  await laptop.get('/me').expect(200)
  expect(await post(laptop, '/logout')).toBe('/')
  await laptop.get('/me').accept('html').expect(401, '')
  expect(await post(phone, '/login')).toBe('/')
  expect(errors).toEqual([])
})

it('production.md, proxies: the cookie is secure over HTTPS, and a session has the address of its client', async () => {
  const app = express()
  const passport = new Passport()
  passport.serializeUser<unknown>((user, done) => done(null, (user as Express.User).id))
  const limiter = sessmgr()
  onTestFinished(() => limiter.close())
  runBlock('production', 0, { app, session, limiter, secret: 'test' })
  app.use(passport.session())
  app.post('/login', (req, res, next) => req.logIn(userOf('alice'), (error) => (error ? next(error) : res.send())))
  const login = () => supertest(app).post('/login').set('X-Forwarded-For', '203.0.113.9, 192.0.2.7')
  expect((await login()).headers['set-cookie']?.[0]).not.toContain('Secure')
  expect((await login().set('X-Forwarded-Proto', 'https')).headers['set-cookie']?.[0]).toContain('Secure')
  expect((await limiter.sessions.list('alice')).map(({ ip }) => ip)).toEqual(['192.0.2.7'])
})

it('limits.md: support acts as a customer, whose only session stays, and goes back', async () => {
  const isSupport = async (userId: unknown) => userId === 'bob'
  const limiter = runBlock('limits', 6, { sessmgr, isSupport }, 'limiter') as Sessmgr
  const requireSupport: express.RequestHandler = (_req, _res, next) => next()
  const { app } = createApp(
    (names) =>
      void runBlock('limits', 7, { ...names, requireSupport, isSupport, findUser: async (id: string) => userOf(id) }),
    {},
    limiter,
  )
  const [alice] = await devicesOf(app, 1)
  const bob = supertest.agent(app)
  await bob
    .post('/login')
    .type('form')
    .send({ ...FORM, username: 'bob' })
    .expect(302)
  await bob.post('/support/end').expect(403)
  await bob.post('/support/alice/start').expect(302)
  expect([(await bob.get('/me')).text, (await alice.get('/me')).text]).toEqual(['alice', 'alice'])
  expect(await limiter.sessions.list('alice')).toMatchObject([{ actor: null }, { actor: 'bob', label: 'support' }])
  await bob.post('/support/end').expect(302)
  expect([(await bob.get('/me')).text, (await alice.get('/me')).text]).toEqual(['bob', 'alice'])
  expect((await limiter.sessions.list('bob')).map(({ counts }) => counts)).toEqual([true])
  expect(await limiter.sessions.count('alice')).toBe(1)
})

it('limits.md: streams hold the limit of a plan, and a silent one frees its slot', async () => {
  const clock = testingDoor.fakeClock()
  const names = { sessmgr, store: memoryStore({ clock }), planOf: () => 1 }
  const packages: Names = { 'sessmgr/explicit': explicitDoor, 'node:crypto': nodeRequire('node:crypto') }
  const require = (name: string) => packages[name]
  const result = '{ start, beat, stop, streams }'
  const made = runBlock('limits', 9, { ...names, require }, result) as {
    start(userId: string): Promise<{ admitted: boolean }>
    beat(userId: string, sessionId: string): Promise<boolean>
    streams: Sessmgr
  }
  onTestFinished(() => made.streams.close())
  expect([await made.start('alice'), await made.start('alice')]).toMatchObject([
    { admitted: true },
    { admitted: false },
  ])
  clock.advance(60_000)
  expect(await made.start('alice')).toMatchObject({ admitted: true })
  expect(await made.beat('alice', 'another')).toBe(false)
})

it('testing.md: the test of an application passes, and its clock ends sessions', async () => {
  const tests: (() => Promise<void>)[] = []
  const exports = { createApp: () => createApp(() => {}, { settings: { maximum: 1 } }).app }
  const packages: Names = {
    './app.js': exports,
    'sessmgr/testing': testingDoor,
    vitest: { test: (_name: string, run: () => Promise<void>) => tests.push(run) },
  }
  runBlock('testing', 1, { require: (name: string) => packages[name] ?? nodeRequire(name) })
  expect(tests).toHaveLength(1)
  await tests[0]?.()

  const clock = testingDoor.fakeClock()
  const { app, limiter } = createApp(() => {}, { store: memoryStore({ clock }) })
  await devicesOf(app, 1)
  expect(await limiter.sessions.count('alice')).toBe(1)
  const used = {
    require: (name: string) => ({ 'sessmgr/testing': { fakeClock: () => clock } })[name] ?? { memoryStore, sessmgr },
  }
  runBlock('testing', 3, used)
  expect(await limiter.sessions.count('alice')).toBe(0)
})

it('testing.md: the test of an application passes as CommonJS, as Jest runs it, on the built package', () => {
  const folder = join(ROOT, 'test-output', 'testing')
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(folder, { recursive: true })
  const [, code = '', made = ''] = codeBlocks(pageAt('docs/testing.md')).map((block) => block.code)
  const [, app] = codeBlocks(pageAt('docs/getting-started.md')).filter(({ code }) => code.includes('app.listen('))
  const [program = ''] = asCommonJs(app?.code ?? '')
    .replace('maximum: 2', 'maximum: 1')
    .replace('sessmgr({', 'sessmgr({ ...options,')
    .split('app.listen(')
  expect(program).toContain('sessmgr({ ...options,')
  writeFileSync(
    join(folder, 'app.cjs'),
    made.replace('export function', 'exports.createApp = function').replace(/ *\/\/ the program.*/, () => program),
  )
  writeFileSync(
    join(folder, 'limit.test.cjs'),
    asCommonJs(code).replace("'vitest'", "'node:test'").replace('app.js', 'app.cjs'),
  )
  const { stdout, status } = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout).toContain('a second device signs the first one out')
  expect([status, stdout]).toEqual([0, expect.stringContaining('# pass 1')])
})
