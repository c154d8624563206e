import flash from 'connect-flash'
import express5, { type ErrorRequestHandler } from 'express'
import session, { type SessionOptions } from 'express-session'
import express4 from 'express4'
import type passport from 'passport'
import { onTestFinished } from 'vitest'
import { type Logger, type SessionSettings, type Sessmgr, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import { Browser } from './browser.ts'
import { createAuthentication } from './create-authentication.ts'
import { Gates } from './gates.ts'
import { addRoutes } from './host-routes.ts'
import { listen } from './listen.ts'
import { addLogin, type LoginWay } from './login-ways.ts'
import { type FiredAction, recordActions } from './record-actions.ts'
import { TestStore } from './test-store.ts'

/** How the application under test is put together. */
export interface HostOptions {
  readonly express?: 4 | 5
  /** Short for `sessmgr: { settings }`. */
  readonly settings?: Partial<SessionSettings>
  readonly sessmgr?: SessmgrOptions
  /** Leaves the limit out: the application as it was before. */
  readonly unlimited?: boolean
  /** Where sessmgr stands: before or after passport.session(). */
  readonly order?: 'before' | 'after'
  readonly way?: LoginWay
  /** Options of the passport.authenticate call. */
  readonly authenticate?: passport.AuthenticateOptions
  readonly session?: Partial<SessionOptions>
  readonly store?: TestStore
  /** Leaves errors to Express, as an application without an error handler does. */
  readonly expressErrors?: boolean
  /** Path under which the whole application is mounted. */
  readonly mountedAt?: string
}

/** A running application under test. */
export interface Host {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly store: TestStore
  readonly gates: Gates
  /** Every action that fired, in order. */
  readonly actions: FiredAction[]
  /** What reached the application's error handler. */
  readonly errors: unknown[]
  /** What sessmgr logged, unless `sessmgr.logger` is given. */
  readonly logs: unknown[][]
  browser(): Browser
  /** A browser that has signed in, for tests in which the login is not the point. */
  signedIn(login: string): Promise<Browser>
}

/** Starts an application on a free port of 127.0.0.1 until the test is over. */
export async function startHost(options: HostOptions = {}): Promise<Host> {
  const { way = 'plain', order = 'before', store = new TestStore() } = options
  const logs: unknown[][] = []
  const logger: Logger = { warn: (...line) => void logs.push(line), error: (...line) => void logs.push(line) }
  const limiter = sessmgr({ logger, settings: options.settings, ...options.sessmgr })
  const authentication = createAuthentication()
  const gates = new Gates()
  const errors: unknown[] = []
  const usesPassport = way !== 'limiter'

  const express = options.express === 4 ? express4 : express5
  const app = express()
  app.use(express.urlencoded({ extended: false }))
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false, ...options.session, store }))
  const stack = [
    ...(options.unlimited ? [] : [limiter]),
    ...(usesPassport ? [authentication.session() as express5.RequestHandler] : []),
  ]
  app.use(...(order === 'before' ? stack : stack.reverse()))
  app.use(flash())
  addLogin(app, way, { authentication, limiter, gates, options: options.authenticate ?? {} })
  addRoutes(app, { limiter, gates, passport: usesPassport })
  const reportError: ErrorRequestHandler = (error, req, res, _next) => {
    errors.push(error)
    res.set('X-User', req.user?.login ?? 'nobody')
    res.status(error.status ?? 500).set(error.headers ?? {})
    res.json({ handledByApplication: true, code: error.code ?? null })
  }
  if (!options.expressErrors) app.use(reportError)

  const { mountedAt = '' } = options
  const origin = (await listen(mountedAt === '' ? app : express().use(mountedAt, app))) + mountedAt
  onTestFinished(() => limiter.close())
  return {
    origin,
    limiter,
    store,
    gates,
    errors,
    logs,
    actions: recordActions(limiter.hooks),
    browser: () => new Browser(origin),
    async signedIn(login) {
      const browser = new Browser(origin)
      await browser.login(login)
      if ((await browser.me()) !== 200) throw new Error(`${login} could not sign in`)
      return browser
    },
  }
}
