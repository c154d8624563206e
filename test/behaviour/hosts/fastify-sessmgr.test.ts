import fastifyCookie from '@fastify/cookie'
import fastifyFormbody from '@fastify/formbody'
import passport from '@fastify/passport'
import fastifySession from '@fastify/session'
import fastify from 'fastify'
import { Strategy as LocalStrategy } from 'passport-local'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fastifySessmgr } from '../../../src/fastify.ts'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { loggedIn } from '../../support/browser.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { createLimiter, FORTNIGHT, type HostSetup } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { authenticate, findUserById } from '../../support/users.ts'

const SECRET = 'a secret of the tests, long enough for it'

const start = (setup: HostSetup = {}) => startFastifyHost(setup)

describe('registered in the wrong place, the plugin says so at start-up', () => {
  test('before @fastify/session', async () => {
    const app = fastify()
    app.register(fastifySessmgr, { limiter: createLimiter() })
    await expect(app.ready()).rejects.toMatchObject({ code: 'session_middleware_missing' })
  })

  test('with sessions that no server can end', async () => {
    const app = fastify()
    app.decorateRequest('session', null as never)
    app.register(fastifySessmgr, { limiter: createLimiter() })
    await expect(app.ready()).rejects.toMatchObject({ code: 'session_middleware_unsupported' })
  })

  test('on a Fastify that is too old, naming both versions', async () => {
    const app = fastify()
    Object.defineProperty(app, 'version', { value: '4.29.1' })
    app.register(fastifySessmgr, { limiter: createLimiter() })
    await expect(app.ready()).rejects.toMatchObject({
      code: 'session_middleware_unsupported',
      message: expect.stringMatching(/^This is Fastify 4\.29\.1\. sessmgr needs Fastify 5 or newer/),
    })
  })

  test('without the limiter, or with it in the wrong place', async () => {
    const limiter = createLimiter()
    for (const mistaken of [[fastifySessmgr, { limiter: {} }], [limiter], [fastifySessmgr, limiter]]) {
      const app = fastify()
      Reflect.apply(app.register, app, mistaken)
      await expect(app.ready()).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('fastify.register(fastifySessmgr, { limiter })'),
      })
    }
  })
})

describe('a session that rolls', () => {
  test('is not written again by every request, though the browser gets its cookie', async () => {
    const host = await start()
    const browser = await loggedIn(host, 'alice')
    const id = host.sessionIdOf(browser) ?? ''
    const written = host.sessions.writes.get(id)
    const answers = [await browser.get('/me'), await browser.get('/me')]
    expect(answers.map(({ setCookies }) => setCookies.length)).toEqual([1, 1])
    expect(host.sessions.writes.get(id)).toBe(written)
    await browser.post('/cart', { item: 'tea' })
    expect(host.sessions.writes.get(id)).toBe((written ?? 0) + 1)
  })

  test('is written again when its use has not been noted for long', async () => {
    const host = await start({ sessmgr: { touchEvery: 0 } })
    const browser = await loggedIn(host, 'alice')
    const id = host.sessionIdOf(browser) ?? ''
    const written = host.sessions.writes.get(id) ?? 0
    await browser.get('/me')
    expect(host.sessions.writes.get(id)).toBe(written + 1)
  })

  test('is checked once at every request', async () => {
    const store = memoryStore()
    let checks = 0
    const { useOf } = store.sessions
    store.sessions.useOf = (...parameters) => {
      checks += 1
      return useOf.apply(store.sessions, parameters)
    }
    const host = await start({ sessmgr: { store } })
    const browser = await loggedIn(host, 'alice')
    await browser.get('/me')
    checks = 0
    await browser.get('/me')
    expect(checks).toBe(1)
  })
})

test.each([
  ['Fastify that does not roll', startFastifyHost, { rolling: false }],
  ['Koa', startKoaHost, {}],
])('the use of a session of %s is noted all the same, and its life is not prolonged', async (_, startHost, session) => {
  const clock = fakeClock()
  const host = await startHost({ sessmgr: { touchEvery: 0, store: memoryStore({ clock }) }, session })
  const browser = await loggedIn(host, 'alice')
  const id = host.sessionIdOf(browser) ?? ''
  const written = host.sessions.writes.get(id)
  const [before] = await host.limiter.sessions.list(2)
  clock.advance(5000)
  await browser.get('/me')
  const [after] = await host.limiter.sessions.list(2)
  expect((after?.lastSeenAt ?? 0) - (before?.lastSeenAt ?? 0)).toBeGreaterThanOrEqual(4000)
  expect(host.sessions.writes.get(id)).toBe(written)
})

test('the reason of an ended session is told with a prefix of the cookie', async () => {
  const host = await start({ session: { cookiePrefix: 's:' } })
  const browser = await loggedIn(host, 'alice')
  await host.limiter.sessions.logoutAllUsers()
  expect((await browser.get('/state')).json()).toMatchObject({ ended: { reason: 'logout_all' } })
})

test('failureFlash is honoured', async () => {
  const host = await start({ authenticate: { successRedirect: '/', failureRedirect: '/login', failureFlash: true } })
  host.limiter.hooks.addFilter('sessmgr_error_message', 'test', () => 'Too many.')
  await host.limiter.settings.update({ logic: 'block' })
  await host.browser().login('alice')
  const visitor = host.browser()
  expect((await visitor.login('alice')).location).toBe('/login')
  expect((await visitor.get('/messages')).json()).toEqual({ messages: [], flash: { error: ['Too many.'] } })
})

test('a logout that the store does not carry out leaves the browser its session, to try again', async () => {
  const host = await start()
  const browser = await loggedIn(host, 'alice')
  const id = host.sessionIdOf(browser)
  const gate = host.sessions.holdNextDestroy()
  const leaving = browser.post('/logout')
  await gate.arrived
  host.sessions.failure = new Error('down')
  gate.open()
  expect((await leaving).status).toBe(503)
  host.sessions.failure = undefined
  expect(host.sessionIdOf(browser)).toBe(id)
})

test('the first request of a process is judged though its session was loaded before there was a guard', async () => {
  const sessions = new JsonSessions()
  const store = memoryStore()
  const first = await start({ sessions, sessmgr: { store } })
  const [gone, alive] = [first.browser(), first.browser()]
  await gone.login('alice')
  await alive.login('bob')
  await store.sessions.end(
    2,
    (await first.limiter.sessions.list(2)).map(({ token }) => token),
  )
  const second = await start({ sessions, sessmgr: { store } })
  const third = await start({ sessions, sessmgr: { store } })
  const id = second.sessionIdOf(gone)
  expect((await gone.copy(second.origin).get('/state')).json()).toMatchObject({ ended: { reason: 'ended' } })
  expect(sessions.read(id)).toBeUndefined()
  expect((await alive.copy(third.origin).get('/me')).json()).toEqual({ id: 3 })
})

describe('with the memory store of @fastify/session, which keeps the very session objects', () => {
  async function startWithMemoryStore() {
    const limiter = sessmgr({ settings: { maximum: 1, logic: 'logout_oldest' } })
    const authentication = new passport.Authenticator()
    const strategy = new LocalStrategy((login, password, done) => done(null, authenticate(login, password) ?? false))
    authentication.use('local', strategy as never)
    authentication.registerUserSerializer(async (user: Express.User) => user.id)
    authentication.registerUserDeserializer(async (id: number) => findUserById(id) ?? null)
    const app = fastify()
    await app.register(fastifyCookie)
    await app.register(fastifyFormbody)
    await app.register(fastifySession, { secret: SECRET, cookie: { secure: false, maxAge: FORTNIGHT } })
    await app.register(authentication.initialize())
    await app.register(authentication.secureSession())
    await app.register(fastifySessmgr, { limiter })
    await app.register(async (scope) => {
      scope.post('/login', { preValidation: authentication.authenticate('local') }, async () => 'in')
      scope.get('/me', async (request) => ({ user: request.user, sessmgr: request.sessmgr }))
      scope.post('/keep', async (request) => {
        await request.logIn(findUserById(2), { keepSessionInfo: true } as never)
        return 'in'
      })
      scope.post('/callback', (request, reply) => {
        request.session.regenerate((error) => reply.send({ error: error ?? null }))
      })
    })
    onTestFinished(async () => {
      await app.close()
      await limiter.close()
    })
    const login = async (path = '/login', headers: Record<string, string> = {}) => {
      const answer = await app.inject({
        method: 'POST',
        url: path,
        headers,
        payload: { username: 'alice', password: 'secret' },
      })
      expect(answer.statusCode).toBe(200)
      const cookie = answer.cookies.find(({ name }) => name === 'sessionId')
      return { cookie: `sessionId=${encodeURIComponent(cookie?.value ?? '')}` }
    }
    const me = async (headers: Record<string, string>) => (await app.inject({ url: '/me', headers })).json()
    return { app, limiter, login, me }
  }

  test('keepSessionInfo carries no mark of the old session into the new one', async () => {
    const { limiter, login, me } = await startWithMemoryStore()
    const old = await login()
    const young = await login('/keep', old)
    expect(young).not.toEqual(old)
    expect(await me(young)).toMatchObject({ user: { id: 2 }, sessmgr: { session: { userId: 2 } } })
    expect(await me(old)).toMatchObject({ user: null })
    expect(await limiter.sessions.count(2)).toBe(1)
  })

  test('a session can be regenerated with a callback', async () => {
    const { app, limiter, login } = await startWithMemoryStore()
    const headers = await login()
    expect((await app.inject({ method: 'POST', url: '/callback', headers })).json()).toEqual({ error: null })
    expect(await limiter.sessions.count(2)).toBe(0)
  })
})
