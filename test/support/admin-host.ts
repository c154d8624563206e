import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { Sessmgr } from '../../src/index.ts'
import { type Chromium, startChromium, watch } from './chromium.ts'
import { createExample } from './example-app.ts'
import { type FiredAction, recordActions } from './record-actions.ts'
import { serve } from './serve.ts'

/** Folder for pictures of the screen. */
export const PICTURES = fileURLToPath(new URL('../../test-output/', import.meta.url))

/** The example application in this process, with a real browser. */
export interface AdminHost {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly actions: FiredAction[]
  readonly chromium: Chromium
  /** Signs a demo user in, in a separate window. */
  signIn(login: string, options?: BrowserContextOptions): Promise<BrowserContext>
  /** Opens a page of the admin screen, the settings by default, in a window where `admin` is signed in, until the test is over. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>
  /** Does so with a clock in the page that the test moves. */
  openWithClock(path?: string): Promise<Page>
  /** Ends every session and resets the settings. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** What a test changes in the application. */
export interface AdminHostOptions {
  readonly env?: Record<string, string>
  /** Handlers that run before the application. */
  readonly before?: (app: Express) => void
}

/** Starts the example with everything in memory. */
export async function startAdminHost({ env = {}, before }: AdminHostOptions = {}): Promise<AdminHost> {
  mkdirSync(PICTURES, { recursive: true })
  const { app, limiter, close } = await createExample({ SESSMGR_MAXIMUM: '5', ...env })
  const outer = express()
  before?.(outer)
  outer.use(app)
  const served = await serve(outer)
  const { origin } = served
  const chromium = await startChromium()
  const actions = recordActions(limiter.hooks)

  async function signIn(login: string, options?: BrowserContextOptions): Promise<BrowserContext> {
    const context = await chromium.visitor({ viewport: { width: 1280, height: 800 }, ...options })
    await watch(context)
    const form = { username: login, password: `${login}-password` }
    const home = await context.request.post(`${origin}/login`, { form })
    if (home.url() !== `${origin}/`) throw new Error(`${login} could not sign in: ${home.url()}`)
    return context
  }

  async function open(path = '/settings', options?: BrowserContextOptions, prepare?: (page: Page) => Promise<void>) {
    const context = await signIn('admin', options)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await prepare?.(page)
    await page.goto(`${origin}/admin${path}`)
    return page
  }

  return {
    origin,
    limiter,
    actions,
    chromium,
    signIn,
    open,
    openWithClock: (path) => open(path, {}, (page) => page.clock.install()),
    async reset() {
      for (const id of [1, 2, 3, 4]) await limiter.sessions.endAll(id)
      await limiter.settings.update({ maximum: 5, logic: 'allow', idle_release: 0, enforce: true })
      actions.length = 0
    },
    async close() {
      await chromium.close()
      await served.close()
      await close()
    },
  }
}
