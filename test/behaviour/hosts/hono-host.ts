import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import type { AccountOptions, SessmgrOptions } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { Gates } from '../../support/gates.ts'
import { createLimiter, type HostSetup, type HostUnderTest } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'
import { addOwnRoutes, type OwnEnv, readOwnSessions } from '../../support/own-sessions.ts'
import { recordActions } from '../../support/record-actions.ts'

/** Starts an application on Hono with sessions of its own, the REST routes, the admin screen and the account page. */
export async function startHonoHost(options: SessmgrOptions = {}, sessions?: JsonSessions, account?: AccountOptions) {
  return startExplicitHost({ sessmgr: options, ...(sessions && { sessions }), account })
}

/** Starts an application that makes the explicit calls itself. */
export async function startExplicitHost(setup: HostSetup = {}): Promise<HostUnderTest> {
  const { sessmgr: options = {}, sessions = new JsonSessions() } = setup
  const limiter = createLimiter(options)
  const actions = recordActions(limiter.hooks)
  const gates = new Gates()
  const errors: unknown[] = []
  const store = sessions.forPromises()
  const explicit = explicitCalls(limiter, { exists: (id) => sessions.sessions.has(id), destroy: store.destroy })
  const calls: Parameters<typeof addOwnRoutes>[3] = {
    stateOf(c, sessionId, userId) {
      const { incoming: request, outgoing: response } = c.env
      if (userId === undefined) return explicit.missing({ sessionId, request, response })
      return explicit.check({ userId, sessionId, request, response })
    },
    async login(c, userId, create) {
      const { state, id: replaces } = c.var
      const ip = c.env.incoming.socket.remoteAddress ?? null
      const device = options.device ? { cookies: c.req.header('cookie'), secure: false } : undefined
      const client = { ip, userAgent: c.req.header('user-agent') ?? null, device }
      const admission = await explicit.login({ userId, replaces, state, ...client }, create)
      if (!admission.admitted) return admission
      if (admission.deviceCookie) c.header('Set-Cookie', admission.deviceCookie, { append: true })
      const left = state.session?.userId
      const isOther = left !== undefined && left !== userId
      if (isOther && admission.session.counts) await explicit.logout({ userId: left, sessionId: replaces })
      return admission
    },
    logout: (c, userId) => explicit.logout({ userId, sessionId: c.var.id }),
    nonce: (c) => limiter.nonce(c.env.incoming),
  }
  const app = new Hono<OwnEnv>()
  readOwnSessions(app, sessions, gates, calls)
  app.onError((error, c) => {
    errors.push(error)
    const { code, status = 503 } = error as { code?: string; status?: number }
    return c.json({ code }, status as 503)
  })
  const mounted = {
    '/api': limiter.router(),
    '/admin': limiter.admin({ path: '/admin' }),
    '/account/sessions': limiter.account({ path: '/account/sessions', ...setup.account }),
  }
  for (const [path, serveIt] of Object.entries(mounted)) {
    app.all(`${path}/*`, async (c, next) => {
      const { incoming, outgoing } = c.env
      const { url = '' } = incoming
      Object.assign(incoming, { url: url.slice(path.length) || '/', originalUrl: url })
      const isAnswered = await new Promise<boolean>((resolve, reject) => {
        outgoing.on('close', () => resolve(true))
        serveIt(incoming, outgoing, (error) => (error ? reject(error) : resolve(false)))
      })
      incoming.url = url
      return isAnswered ? RESPONSE_ALREADY_SENT : next()
    })
  }
  addOwnRoutes(app, sessions, gates, calls)

  onTestFinished(() => limiter.close())
  const origin = await listen(getRequestListener(app.fetch))
  const sessionIdOf = (browser: Browser) => browser.cookies.get('sid')?.value
  return { origin, limiter, gates, sessions, errors, actions, browser: () => new Browser(origin), sessionIdOf }
}
