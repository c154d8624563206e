import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'
import { vi } from 'vitest'
import { FINGERPRINT } from './certificate.ts'

/** Keys in software, because a machine of tests has no chip for them. */
const FEATURES = [
  'DeviceBoundSessions',
  'PersistDeviceBoundSessions',
  'EnableBoundSessionCredentialsSoftwareKeysForManualTesting',
  'UnexportableKeySoftwareFallback',
]
const SOFTWARE_KEYS = 'enable-bound-session-credentials-software-keys-for-manual-testing@1'
/** "Enabled - For developers", which has no quota of proofs. */
const WITHOUT_QUOTA = 'enable-standard-device-bound-session-credentials@2'

/** A real Chromium that can bind sessions. */
export interface DeviceChromium {
  readonly context: BrowserContext
  close(): Promise<void>
}

/** Starts Chromium with a profile of its own. @param hasQuota Whether it has the quota that users have. */
export async function startDeviceChromium({ hasQuota = false } = {}): Promise<DeviceChromium> {
  const profile = mkdtempSync(join(tmpdir(), 'sessmgr-device-'))
  const enabled = [SOFTWARE_KEYS, ...(hasQuota ? [] : [WITHOUT_QUOTA])]
  // Playwright's own way of starting it cannot set these.
  writeFileSync(join(profile, 'Local State'), JSON.stringify({ browser: { enabled_labs_experiments: enabled } }))
  const options = [
    '--headless=new',
    '--no-sandbox',
    '--no-first-run',
    '--disable-gpu',
    `--ignore-certificate-errors-spki-list=${FINGERPRINT}`,
  ]
  const given = [`--user-data-dir=${profile}`, '--remote-debugging-port=0', `--enable-features=${FEATURES}`]
  const started = spawn('/usr/bin/chromium', [...options, ...given, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise((resolve) => started.once('exit', resolve))
  const address = await new Promise<string>((resolve, reject) => {
    let text = ''
    started.once('exit', () => reject(new Error(`Chromium did not start: ${text}`)))
    started.stderr.on('data', (part) => {
      text += part
      const found = /listening on (ws:\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
  })
  const browser = await chromium.connectOverCDP(address)
  return {
    context: browser.contexts()[0] as BrowserContext,
    async close() {
      await browser.close()
      started.kill('SIGKILL')
      await ended
      // Its children may still write for a moment.
      await vi.waitFor(() => rmSync(profile, { recursive: true, force: true }), { timeout: 10_000, interval: 200 })
    },
  }
}
