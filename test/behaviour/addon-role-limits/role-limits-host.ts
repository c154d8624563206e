import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { RoleLimits } from '../../../examples/addon-role-limits/limits-option.ts'
import { product } from '../../../examples/addon-role-limits/product.ts'
import type { SessionSettings, Sessmgr } from '../../../src/index.ts'
import { type Answer, Browser } from '../../support/browser.ts'
import { createExample } from '../../support/example-app.ts'
import { listen } from '../../support/listen.ts'
import { createVendor, type OfflineVendor } from '../addons/offline-vendor.ts'

const APP_PASSWORD = 'abcd efgh ijkl mnop qrst uvwx'

/** The example application with the add-on, before real Express, express-session and Passport. */
export interface RoleLimitsHost {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly vendor: OfflineVendor
  /** Stores limits as the admin screen does. */
  setLimits(limits: Partial<RoleLimits>): Promise<void>
  /** Logs a demo user in and gives the browser, and what the login answered. */
  login(login: string): Promise<{ browser: Browser; status: number }>
  /** Calls a REST route as `admin`, with an application password. */
  rest(method: string, path: string, body?: object): Promise<Answer>
}

/** What a test changes of the application. */
export interface RoleLimitsHostOptions {
  readonly settings?: Partial<SessionSettings>
  /** The license key that is activated; none: the add-on stays without one. @default one for ever */
  readonly license?: 'good' | 'none'
  readonly vendor?: OfflineVendor
  readonly env?: Record<string, string>
}

/** Makes a vendor who is called as the demo's, with the file of public keys that the application is started with. */
export function demoVendorFile(): { vendor: OfflineVendor; file: string; remove(): void } {
  const vendor = createVendor('demo', 'demo-vendor')
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-vendor-'))
  const file = join(folder, 'demo-vendor-keys.json')
  writeFileSync(file, JSON.stringify(vendor.trust.keys))
  return { vendor, file, remove: () => rmSync(folder, { recursive: true }) }
}

/** Starts the application on a free port of 127.0.0.1 until the test is over. */
export async function startRoleLimits(options: RoleLimitsHostOptions = {}): Promise<RoleLimitsHost> {
  const { vendor, file, remove } = demoVendorFile()
  onTestFinished(remove)
  const { app, limiter, close } = await createExample({
    SEED_APP_PASSWORD: APP_PASSWORD,
    ADDON_ROLE_LIMITS: file,
    ...options.env,
  })
  onTestFinished(close)
  const origin = await listen(app)
  if (options.settings) await limiter.settings.update(options.settings)
  if (options.license !== 'none') await limiter.addons.activate(product.id, await vendor.issue(product.id))
  return {
    origin,
    limiter,
    vendor,
    setLimits: async (limits) => void (await limiter.options.get('role_limits')?.update(limits)),
    async login(login) {
      const browser = new Browser(origin)
      const form = { username: login, password: `${login}-password` }
      const { status } = await browser.post('/login', form, { accept: 'application/json' })
      return { browser, status }
    },
    async rest(method, path, body) {
      const response = await fetch(`${origin}/api${path}`, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`admin:${APP_PASSWORD}`).toString('base64')}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        setCookies: [],
        text,
        location: null,
        json: <T>() => JSON.parse(text) as T,
      }
    },
  }
}
