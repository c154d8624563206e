import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { type SessionSettings, type Sessmgr, type SessmgrStore, sessmgr } from '../../src/index.ts'
import { type RedisClient, redisStore } from '../../src/redis.ts'
import { Browser } from './browser.ts'
import { createAuthentication } from './create-authentication.ts'
import { Gates } from './gates.ts'
import { addRoutes } from './host-routes.ts'
import { addLogin } from './login-ways.ts'
import { serve } from './serve.ts'

/** How an application on Redis is put together. */
export interface RedisHostOptions {
  readonly client: RedisClient
  /** For the sessions, where they lie elsewhere. */
  readonly sessionClient?: unknown
  readonly settings?: Partial<SessionSettings>
  /** For both, the session store and the store of sessmgr. */
  readonly deadlineMs?: number
  readonly durability?: 'master' | 'replica'
  readonly touchEvery?: number | undefined
  /** Milliseconds that the cookie lives; without it, it lives as long as the browser. */
  readonly cookieMaxAge?: number
}

/** One process of an application on Redis: express-session, connect-redis, Passport. */
export interface RedisHost {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly store: SessmgrStore
  readonly gates: Gates
  readonly logs: unknown[][]
  browser(): Browser
  /** A browser that has signed in, for tests in which the login is not the point. */
  signedIn(login: string): Promise<Browser>
  close(): Promise<void>
}

/** Starts an application on a free port of 127.0.0.1. Its errors are left to Express. */
export async function startRedisHost(options: RedisHostOptions): Promise<RedisHost> {
  const { client, sessionClient = client, settings, deadlineMs, durability, touchEvery, cookieMaxAge } = options
  const logs: unknown[][] = []
  const logger = {
    warn: (...line: unknown[]) => void logs.push(line),
    error: (...line: unknown[]) => void logs.push(line),
  }
  const sessionStore = new RedisStore({ client: sessionClient })
  const store = redisStore({ client, deadlineMs, durability })
  const limiter = sessmgr({ store, sessionStore, settings, deadlineMs, touchEvery, logger })
  const authentication = createAuthentication()
  const gates = new Gates()

  const app = express()
  // Without this, Express writes every error that it answers to the console.
  app.set('env', 'test')
  app.use(express.urlencoded({ extended: false }))
  const cookie = cookieMaxAge === undefined ? {} : { maxAge: cookieMaxAge }
  app.use(session({ store: sessionStore, secret: 'test', resave: false, saveUninitialized: false, cookie }))
  app.use(limiter, authentication.session() as express.RequestHandler)
  addLogin(app, 'plain', { authentication, limiter, gates, options: {} })
  addRoutes(app, { limiter, gates, passport: true })
  const { origin, close } = await serve(app)
  return {
    origin,
    limiter,
    store,
    gates,
    logs,
    browser: () => new Browser(origin),
    async signedIn(login) {
      const browser = new Browser(origin)
      const { status, text } = await browser.login(login)
      if (status !== 200 || (await browser.me()) !== 200)
        throw new Error(`${login} could not sign in: ${status} ${text}`)
      return browser
    },
    async close() {
      await close()
      await limiter.close()
    },
  }
}
