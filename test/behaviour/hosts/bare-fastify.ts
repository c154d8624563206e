import fastifyCookie from '@fastify/cookie'
import fastifySession, { type FastifySessionOptions } from '@fastify/session'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { onTestFinished } from 'vitest'
import { fastifySessmgr } from '../../../src/fastify.ts'
import type { Sessmgr } from '../../../src/index.ts'
import { createLimiter, FORTNIGHT } from '../../support/host-under-test.ts'
import { findUserById } from '../../support/users.ts'

/** How the application differs. */
interface BareSetup {
  readonly limiter?: Sessmgr
  readonly server?: FastifyServerOptions
  readonly session?: Partial<FastifySessionOptions>
}

/** Makes an application of Fastify without Passport, with `/login`, `/logout` and `/nonce`, for a test to add to. */
export async function bareFastify({ limiter = createLimiter(), server, session }: BareSetup = {}) {
  const app: FastifyInstance = fastify({ forceCloseConnections: true, ...server })
  const errors: unknown[] = []
  app.addHook('onError', async (_request, _reply, error) => void errors.push(error))
  await app.register(fastifyCookie)
  await app.register(fastifySession, {
    secret: 'a secret of the tests, long enough for it',
    saveUninitialized: false,
    cookie: { secure: false, maxAge: FORTNIGHT },
    ...session,
  })
  await app.register(fastifySessmgr, { limiter })
  app.post('/login', async (request) => {
    await limiter.login(request, findUserById(2))
    return 'in'
  })
  app.post('/logout', async (request) => {
    await limiter.logout(request)
    return 'out'
  })
  app.get('/nonce', async (request) => (await limiter.nonce(request)) ?? '')
  onTestFinished(async () => {
    await app.close()
    await limiter.close()
  })
  return { app, limiter, errors, listen: () => app.listen({ port: 0, host: '127.0.0.1' }) }
}
