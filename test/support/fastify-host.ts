import fastifyCookie from '@fastify/cookie'
import fastifyFormbody from '@fastify/formbody'
import passport from '@fastify/passport'
import fastifySession, { type FastifySessionOptions } from '@fastify/session'
import fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { onTestFinished } from 'vitest'
import { fastifyRoutes, fastifySessmgr } from '../../src/fastify.ts'
import type { Sessmgr } from '../../src/index.ts'
import { Browser } from './browser.ts'
import { Gates } from './gates.ts'
import { createLimiter, FORTNIGHT, type HostSetup, type HostUnderTest } from './host-under-test.ts'
import { JsonSessions } from './json-sessions.ts'
import { passwordStrategy } from './password-strategy.ts'
import { recordActions } from './record-actions.ts'
import { authenticate, findUserById } from './users.ts'

const SECRET = 'a secret of the tests, long enough for it'

interface Form {
  username: string
  password: string
  item?: string
}

interface Data {
  cart?: string[]
  messages?: string[]
  userId?: number
  held?: string
}

/** Options that only Fastify has, and further routes for them. */
export interface FastifySetup extends HostSetup {
  readonly fastify?: FastifyServerOptions
  readonly further?: (parts: { app: FastifyInstance; limiter: Sessmgr; gates: Gates }) => unknown
}

/** Starts an application on Fastify, @fastify/session and @fastify/passport. */
export async function startFastifyHost(setup: FastifySetup = {}): Promise<HostUnderTest> {
  const { order = 'before', sessions = new JsonSessions() } = setup
  const limiter = createLimiter(setup.sessmgr)
  const gates = new Gates()
  const store = (setup.store ?? sessions.forCallbacks()) as NonNullable<FastifySessionOptions['store']>
  const authentication = createAuthentication()

  const app: FastifyInstance = fastify({ forceCloseConnections: true, ...setup.fastify })
  const errors: unknown[] = []
  app.addHook('onError', async (_request, _reply, error) => void errors.push(error))
  await app.register(fastifyCookie)
  await app.register(fastifyFormbody)
  const cookie = { secure: false, maxAge: FORTNIGHT }
  await app.register(fastifySession, { secret: SECRET, saveUninitialized: false, cookie, ...setup.session, store })
  const addLimit = async () => {
    if (!setup.unlimited) await app.register(fastifySessmgr, { limiter })
    const bound = setup.bound?.(limiter)
    if (bound) app.addHook('onRequest', (request, reply, done) => bound(request.raw, reply.raw, done as () => void))
  }
  if (order === 'before') await addLimit()
  await app.register(authentication.initialize())
  await app.register(authentication.secureSession())
  if (order === 'after') await addLimit()
  if (!setup.unlimited) {
    await app.register(fastifyRoutes, { prefix: '/api', serve: limiter.router() })
    await app.register(fastifyRoutes, { prefix: '/admin', serve: limiter.admin() })
    await app.register(fastifyRoutes, { prefix: '/account/sessions', serve: limiter.account(setup.account) })
  }

  if (setup.choice) await app.register(fastifyRoutes, { prefix: '/login/choose', serve: limiter.choice(setup.choice) })

  app.addHook('preParsing', async (request) => {
    void gates.at(String((request.query as { arrival?: string }).arrival)).pass()
  })

  const dataOf = (request: FastifyRequest) => request.session as unknown as Data
  const formOf = (request: FastifyRequest) => request.body as Form
  const queryOf = (request: FastifyRequest) => request.query as { write?: string; gate?: string }
  const userIn = (request: FastifyRequest) => authenticate(formOf(request).username, formOf(request).password)
  const succeed = async (request: FastifyRequest) => {
    await gates.at(queryOf(request).gate ?? 'open').pass()
    return { signedIn: true }
  }
  app.get('/', async () => 'public page')
  app.get('/login', async () => 'login form')
  app.get('/moved', async (_request, reply) => reply.redirect('/login'))
  app.get('/me', async (request, reply) => {
    const id = (request.user as Express.User | null)?.id ?? dataOf(request).userId
    return reply.code(id === undefined ? 401 : 200).send({ id })
  })
  app.get('/state', async (request) => request.sessmgr)
  app.get('/cart', async (request) => dataOf(request).cart ?? [])
  app.post('/cart', async (request, reply) => {
    dataOf(request).cart = [...(dataOf(request).cart ?? []), String(formOf(request).item)]
    return reply.code(204).send()
  })
  app.get('/messages', async (request, reply) => ({
    messages: dataOf(request).messages ?? [],
    flash: (reply as unknown as { flash(): unknown }).flash(),
  }))
  app.get('/nonce', async (request) => (await limiter.nonce(request)) ?? '')
  app.post(
    '/login',
    { preValidation: authentication.authenticate('local', setup.authenticate ?? {}) },
    (request, reply) => {
      // If Passport redirects, there is nothing left to send.
      if (!setup.authenticate) void succeed(request).then((answer) => reply.send(answer))
    },
  )
  const callback = async (request: FastifyRequest, _reply: unknown, _error: unknown, user?: unknown) => {
    await request.logIn(user)
    return succeed(request)
  }
  app.post('/callback-login', authentication.authenticate('local', callback as never))
  app.post('/own-login', async (request) => {
    await request.logIn(userIn(request))
    return succeed(request)
  })
  app.post('/direct-login', async (request) => {
    await limiter.login(request, userIn(request))
    dataOf(request).userId = userIn(request)?.id ?? 0
    return succeed(request)
  })
  app.post('/direct-logout', async (request, reply) => {
    await limiter.logout(request)
    return reply.code(204).send()
  })
  app.post('/logout', async (request, reply) => {
    await request.logOut()
    return reply.code(204).send()
  })
  app.post('/destroy', async (request, reply) => {
    await request.session.destroy()
    return reply.code(204).send()
  })
  app.post('/rotate', async (request, reply) => {
    await gates.at(queryOf(request).gate ?? 'open').pass()
    const { cookie: _, ...kept } = request.session as unknown as Record<string, unknown>
    await request.session.regenerate(Object.keys(kept))
    if (queryOf(request).gate !== undefined) Object.assign(request.session, kept)
    dataOf(request).held = 'rotated'
    return reply.code(204).send()
  })
  app.post('/hold/:gate', async (request, reply) => {
    const { write } = queryOf(request)
    if (write === 'early') dataOf(request).held = 'early'
    await gates.at((request.params as { gate: string }).gate).pass()
    if (write !== 'early') dataOf(request).held = 'late'
    if (write === 'save') await request.session.save()
    return reply.code(204).send()
  })
  await setup.further?.({ app, limiter, gates })
  gates.at('open').open()

  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await app.close()
    await limiter.close()
  })
  return {
    origin,
    limiter,
    gates,
    sessions,
    errors,
    actions: recordActions(limiter.hooks),
    browser: () => new Browser(origin),
    sessionIdOf: (browser) =>
      decodeURIComponent(browser.cookies.get('sessionId')?.value ?? '').split('.')[0] || undefined,
  }
}

function createAuthentication() {
  const authentication = new passport.Authenticator()
  authentication.use('local', passwordStrategy() as never)
  authentication.registerUserSerializer(async (user: Express.User) => user.id)
  authentication.registerUserDeserializer(async (id: number) => findUserById(id) ?? null)
  return authentication
}
