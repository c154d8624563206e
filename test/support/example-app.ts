import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Express } from 'express'
import type { Sessmgr } from '../../src/index.ts'
import { Browser } from './browser.ts'
import { serve } from './serve.ts'

const FOLDER = new URL('../../examples/express-app/', import.meta.url)
const ENV = { SESSION_SECRET: 'test', SCRYPT_COST: '16' }

/** The example is a separate project with other global types than the tests, so its module is described here. */
interface ExampleModule {
  createApp(config: object): Promise<{ app: Express; limiter: Sessmgr; close(): Promise<void> }>
}

/** Builds the example application from environment variables, as its server does. */
export async function createExample(env: Record<string, string>): ReturnType<ExampleModule['createApp']> {
  const from = (file: string) => import(fileURLToPath(new URL(file, FOLDER)))
  const { createApp } = (await from('app.ts')) as ExampleModule
  const { readConfig } = (await from('config.ts')) as { readConfig(env: Record<string, string>): object }
  return createApp(readConfig({ ...ENV, ...env }))
}

/** An action in the hooks log. */
export interface LoggedAction {
  readonly hook: string
  readonly args: readonly unknown[]
}

/** Returns the actions in a hooks log. */
export function actionsIn(file: string): readonly LoggedAction[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  return lines.map((line) => JSON.parse(line) as LoggedAction)
}

/** The running example application, with helpers for tests. */
export abstract class RunningExample {
  abstract readonly origin: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'sessmgr-example-'))
  /** The environment with which it is started. */
  protected readonly env = { ...ENV, TEST_HOOKS_LOG: join(this.#folder, 'hooks.jsonl') }

  protected forgetActions(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Returns the actions with this name in its hooks log. */
  actions(name: string): readonly LoggedAction[] {
    return actionsIn(this.env.TEST_HOOKS_LOG).filter(({ hook }) => hook === name)
  }

  browser(): Browser {
    return new Browser(this.origin)
  }

  /** Returns a browser in which a demo user has signed in. */
  async signedIn(login: string): Promise<Browser> {
    const browser = this.browser()
    await this.login(browser, login)
    return browser
  }

  /** Posts the login form with the demo user's own password. */
  login(browser: Browser, login: string, more: Record<string, string> = {}, headers: Record<string, string> = {}) {
    return browser.post('/login', { username: login, password: `${login.split('@')[0]}-password`, ...more }, headers)
  }
}

/** The example application in this process. */
export class ExampleApp extends RunningExample {
  origin = ''
  #limiter: Sessmgr | undefined
  #stop = async () => {}

  get limiter(): Sessmgr {
    if (!this.#limiter) throw new Error('The example has not started.')
    return this.#limiter
  }

  /** Starts it on a free port. */
  static async start(env: Record<string, string> = {}): Promise<ExampleApp> {
    const example = new ExampleApp()
    const { app, limiter, close } = await createExample({ ...example.env, ...env })
    example.#limiter = limiter
    const served = await serve(app)
    example.origin = served.origin
    example.#stop = async () => {
      await served.close()
      await close()
      example.forgetActions()
    }
    return example
  }

  stop(): Promise<void> {
    return this.#stop()
  }
}
