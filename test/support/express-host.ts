import flash from 'connect-flash'
import express5, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import session, { Store } from 'express-session'
import express4 from 'express4'
import type passport from 'passport'
import { onTestFinished } from 'vitest'
import type { SessionSettings, Sessmgr } from '../../src/index.ts'
import { Browser } from './browser.ts'
import { createAuthentication } from './create-authentication.ts'
import { addLogins, type LoginWay } from './express-logins.ts'
import { addRoutes } from './express-routes.ts'
import { Gates } from './gates.ts'
import { createLimiter, type HostSetup, type HostUnderTest } from './host-under-test.ts'
import { JsonSessions } from './json-sessions.ts'
import { recordActions } from './record-actions.ts'
import { serve } from './serve.ts'
import { TestStore } from './test-store.ts'

/** Options that only an application on Express has. */
export interface ExpressSetup extends HostSetup {
  readonly express?: 4 | 5
  /** Shorthand for `sessmgr: { settings }`. */
  readonly settings?: Partial<SessionSettings> | undefined
  /** What `POST /login` does. */
  readonly way?: LoginWay
  readonly authenticate?: passport.AuthenticateOptions
  readonly session?: Partial<session.SessionOptions>
  /** The session store, if it is neither a TestStore nor based on `sessions`. */
  readonly store?: unknown
  /** Whether errors are left to Express, as in an application without an error handler. */
  readonly expressErrors?: boolean
  /** Path under which the whole application is mounted. */
  readonly mountedAt?: string
  readonly further?: (parts: { app: Express; limiter: Sessmgr }) => unknown
}

/** An application on Express. */
export interface ExpressHost extends HostUnderTest {
  readonly store: TestStore
  /** What sessmgr logged, unless `sessmgr.logger` is given. */
  readonly logs: unknown[][]
  /** Returns a signed-in browser, for tests that are not about the login. */
  signedIn(login: string): Promise<Browser>
  close(): Promise<void>
}

/** Starts an application on Express, express-session and Passport until the test is over. */
export async function startExpressHost(setup: ExpressSetup = {}): Promise<ExpressHost> {
  const host = await openExpressHost(setup)
  onTestFinished(host.close)
  return host
}

/** Starts the same application until it is closed. */
export async function openExpressHost(setup: ExpressSetup): Promise<ExpressHost> {
  const { way = 'plain', order = 'before', sessions = new JsonSessions(), mountedAt = '' } = setup
  const logs: unknown[][] = []
  const log = (...line: unknown[]) => void logs.push(line)
  const limiter = createLimiter({ logger: { warn: log, error: log }, settings: setup.settings, ...setup.sessmgr })
  const authentication = createAuthentication()
  const gates = new Gates()
  const errors: unknown[] = []
  const store = (setup.store ?? (setup.sessions ? storeOn(sessions) : new TestStore())) as TestStore

  const express = setup.express === 4 ? express4 : express5
  const app = express()
  // Without this, Express writes every error that it responds to to the console.
  app.set('env', 'test')
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false, ...setup.session, store }))
  const ofPassport = way === 'limiter' ? [] : [authentication.session() as RequestHandler]
  const bound = setup.bound ? [setup.bound(limiter)] : []
  const stack = [...(setup.unlimited ? [] : [limiter, ...bound]), ...ofPassport]
  app.use(...(order === 'before' ? stack : stack.reverse()))
  app.use(flash())
  if (!setup.unlimited) app.use('/api', limiter.router()).use('/admin', limiter.admin())
  if (!setup.unlimited) app.use('/account/sessions', limiter.account(setup.account))
  if (setup.choice) app.use(setup.choice.url ?? '/login/choose', limiter.choice(setup.choice))
  app.use((req, _res, next) => {
    void gates.at(String(req.query.arrival)).pass()
    next()
  })
  app.use(express.urlencoded({ extended: false }))
  addLogins(app, way, { authentication, limiter, gates, options: setup.authenticate ?? {} })
  addRoutes(app, { limiter, gates, passport: way !== 'limiter' })
  setup.further?.({ app, limiter })
  const reportError: ErrorRequestHandler = (error, req, res, next) => {
    errors.push(error)
    if (setup.expressErrors) return next(error)
    res.set('X-User', req.user?.login ?? 'nobody')
    res.status(error.status ?? 500).set(error.headers ?? {})
    res.json({ handledByApplication: true, code: error.code ?? null })
  }
  app.use(reportError)

  const served = await serve(mountedAt === '' ? app : express().use(mountedAt, app))
  const origin = served.origin + mountedAt
  return {
    origin,
    limiter,
    store,
    sessions,
    gates,
    errors,
    logs,
    actions: recordActions(limiter.hooks),
    browser: () => new Browser(origin),
    sessionIdOf: (browser) => browser.sessionId(),
    async signedIn(login) {
      const browser = new Browser(origin)
      const { status, text } = await browser.login(login)
      if ((await browser.me()) !== 200) throw new Error(`${login} could not sign in: ${status} ${text}`)
      return browser
    },
    async close() {
      await served.close()
      await limiter.close()
    },
  }
}

const storeOn = (sessions: JsonSessions) => Object.assign(Reflect.construct(Store, []), sessions.forCallbacks())
