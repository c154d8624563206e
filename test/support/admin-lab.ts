import express, { type Express } from 'express'
import session from 'express-session'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import {
  type AdminOptions,
  type Host,
  memoryStore,
  type Sessmgr,
  type SessmgrOptions,
  sessmgr,
} from '../../src/index.ts'
import { asServed } from './as-served.ts'
import type { Chromium } from './chromium.ts'
import { watch } from './chromium.ts'
import { createRestUsers, type RestUser, restHostOf } from './rest-users.ts'
import { serve } from './serve.ts'

/** How the application is set up. */
export interface AdminLabOptions {
  readonly sessmgr?: SessmgrOptions
  readonly sessionStore?: session.MemoryStore
  readonly admin?: AdminOptions
  /** Add-ons' files, by path. */
  readonly files?: Readonly<Record<string, string>>
  readonly users?: RestUser[]
  readonly host?: Partial<Host<RestUser>>
  /** Handlers that run after sessmgr and before its routes. */
  readonly between?: (app: Express) => void
}

/** A bare application with the admin screen, for cases that the example does not cover. */
export interface AdminLab {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly logs: unknown[][]
  /** A window in which a user is signed in. */
  visitor(chromium: Chromium, login: string, options?: BrowserContextOptions): Promise<BrowserContext>
  /** A page of the screen, the settings if none is named, in a window in which `admin` is signed in, until the test is over. */
  open(chromium: Chromium, path?: string, options?: BrowserContextOptions): Promise<Page>
  close(): Promise<void>
}

/** Starts the application on a free port of 127.0.0.1. `/sign-in/<login>` signs a user in, `/sign-out` out. */
export async function startAdminLab(options: AdminLabOptions = {}): Promise<AdminLab> {
  const logs: unknown[][] = []
  const note = (...line: unknown[]) => void logs.push(line)
  const users = options.users ?? createRestUsers()
  const { sessionStore = new session.MemoryStore() } = options
  const limiter = sessmgr({
    store: memoryStore(),
    sessionStore,
    settings: { maximum: 5 },
    host: { ...restHostOf(users), ...options.host },
    logger: { warn: note, error: note },
    ...options.sessmgr,
  })
  const app = express()
  app.set('env', 'test')
  app.get('/files/{*path}', (req, res) => {
    const text = options.files?.[req.path]
    if (text === undefined) res.sendStatus(404)
    else res.type(req.path.endsWith('.css') ? 'css' : 'js').send(text)
  })
  app.use(session({ store: sessionStore, secret: 'test', resave: false, saveUninitialized: false }), limiter)
  options.between?.(app)
  app.use('/api', asServed(limiter, '/api', limiter.router()))
  app.use('/admin', asServed(limiter, '/admin', limiter.admin(options.admin)))
  app.get('/sign-in/:login', (req, res, next) => {
    const user = users.find(({ login }) => login === req.params.login)
    limiter.login(req, user).then(() => res.send('in'), next)
  })
  app.get('/sign-out', (req, res, next) => {
    limiter.logout(req).then(() => res.send('out'), next)
  })
  app.get('/login', (_req, res) => void res.send('<!doctype html><title>Login</title><h1>Login</h1>'))
  const { origin, close } = await serve(app)

  async function visitor(chromium: Chromium, login: string, more?: BrowserContextOptions): Promise<BrowserContext> {
    const context = await chromium.visitor({ viewport: { width: 1280, height: 800 }, ...more })
    await watch(context)
    await context.request.get(`${origin}/sign-in/${login}`)
    return context
  }

  return {
    origin,
    limiter,
    logs,
    visitor,
    async open(chromium, path = '/settings', more) {
      const context = await visitor(chromium, 'admin', more)
      onTestFinished(() => context.close())
      const page = await context.newPage()
      await page.goto(`${origin}/admin${path}`)
      return page
    },
    async close() {
      await close()
      await limiter.close()
    },
  }
}
