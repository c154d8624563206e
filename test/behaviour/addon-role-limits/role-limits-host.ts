import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { RoleLimits } from '../../../examples/addon-role-limits/limits-option.ts'
import type { SessionSettings } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { createExample } from '../../support/example-app.ts'
import { listen } from '../../support/listen.ts'
import { createVendor, type OfflineVendor } from '../addons/offline-vendor.ts'

const APP_PASSWORD = 'abcd efgh ijkl mnop qrst uvwx'

/** Makes a vendor who is called as the demo's, with the file of public keys that the application is started with. */
export function demoVendorFile(): { vendor: OfflineVendor; file: string; remove(): void } {
  const vendor = createVendor('demo', 'demo-vendor')
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-vendor-'))
  const file = join(folder, 'demo-vendor-keys.json')
  writeFileSync(file, JSON.stringify(vendor.trust.keys))
  return { vendor, file, remove: () => rmSync(folder, { recursive: true }) }
}

/** Starts the example with the add-on, before real Express and Passport, until the test is over. */
export async function startRoleLimits() {
  const { vendor, file, remove } = demoVendorFile()
  onTestFinished(remove)
  const { app, limiter, close } = await createExample({ SEED_APP_PASSWORD: APP_PASSWORD, ADDON_ROLE_LIMITS: file })
  onTestFinished(close)
  const origin = await listen(app)
  return {
    limiter,
    vendor,
    /** Ends all sessions, and sets settings and limits as the admin screen does. */
    async begin(settings: Partial<SessionSettings>, roles: RoleLimits['roles'] = {}, users: RoleLimits['users'] = {}) {
      for (const userId of [1, 2, 3, 4]) await limiter.sessions.endAll(userId)
      await limiter.settings.update(settings)
      await limiter.options.get('role_limits')?.update({ roles, users })
    },
    /** Logs a demo user in so many times: what each login answered, and who is still signed in. */
    async logins(login: string, times: number) {
      const statuses: number[] = []
      const browsers = Array.from({ length: times }, () => new Browser(origin))
      for (const browser of browsers) {
        const form = { username: login, password: `${login}-password` }
        statuses.push((await browser.post('/login', form, { accept: 'application/json' })).status)
      }
      return { statuses, seen: () => Promise.all(browsers.map((browser) => browser.me())) }
    },
    /** Calls a REST route as `admin`, with an application password. */
    async rest(method: string, path: string, body?: object) {
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
