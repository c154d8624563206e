import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { RoleLimits } from '../../../examples/addon-role-limits/limits-option.ts'
import type { SessionSettings, Sessmgr } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { createExample } from '../../support/example-app.ts'
import { listen } from '../../support/listen.ts'
import { createVendor, type OfflineVendor } from '../addons/offline-vendor.ts'

const APP_PASSWORD = 'abcd efgh ijkl mnop qrst uvwx'

/** The example application with the add-on, before real Express, express-session and Passport. */
export interface RoleLimitsHost {
  readonly limiter: Sessmgr
  readonly vendor: OfflineVendor
  /** Ends all sessions, and sets settings and limits as the admin screen does. */
  begin(settings: Partial<SessionSettings>, roles?: RoleLimits['roles'], users?: RoleLimits['users']): Promise<void>
  /** Logs a demo user in so many times, one after the other: what each login answered, and who is still signed in. */
  logins(login: string, times: number): Promise<{ statuses: number[]; seen: () => Promise<number[]> }>
  /** Calls a REST route as `admin`, with an application password. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what comes back.
  rest(method: string, path: string, body?: object): Promise<{ status: number; json: any }>
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
export async function startRoleLimits(): Promise<RoleLimitsHost> {
  const { vendor, file, remove } = demoVendorFile()
  onTestFinished(remove)
  const { app, limiter, close } = await createExample({ SEED_APP_PASSWORD: APP_PASSWORD, ADDON_ROLE_LIMITS: file })
  onTestFinished(close)
  const origin = await listen(app)
  return {
    limiter,
    vendor,
    async begin(settings, roles = {}, users = {}) {
      for (const userId of [1, 2, 3, 4]) await limiter.sessions.endAll(userId)
      await limiter.settings.update(settings)
      await limiter.options.get('role_limits')?.update({ roles, users })
    },
    async logins(login, times) {
      const statuses: number[] = []
      const browsers = Array.from({ length: times }, () => new Browser(origin))
      for (const browser of browsers) {
        const form = { username: login, password: `${login}-password` }
        statuses.push((await browser.post('/login', form, { accept: 'application/json' })).status)
      }
      return { statuses, seen: () => Promise.all(browsers.map((browser) => browser.me())) }
    },
    async rest(method, path, body) {
      const authorization = `Basic ${Buffer.from(`admin:${APP_PASSWORD}`).toString('base64')}`
      const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
      const response = await fetch(`${origin}/api${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, json: await response.json() }
    },
  }
}
