import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const PROGRAM = '/usr/bin/chromium'
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A real browser with a profile of its own. */
export interface Chromium {
  /** Opens a window of its own: no cookie and no cache is shared with another. */
  visitor(options?: BrowserContextOptions): Promise<BrowserContext>
  close(): Promise<void>
}

/** Starts the system's Chromium. */
export async function startChromium(): Promise<Chromium> {
  if (!existsSync(PROGRAM)) throw new Error(`There is no ${PROGRAM}: install the package chromium.`)
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-chromium-'))
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder }
  const browser = await chromium.launch({ executablePath: PROGRAM, args: QUIET, env })
  return {
    visitor: (options) => browser.newContext(options),
    async close() {
      await browser.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

declare global {
  interface Window {
    seen: { shift: number; violations: string[]; ran: unknown[] }
  }
}

/** Notes layout shifts and violations of the page's policy from its first moment on. Read by `seenBy`. */
export async function watch(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    window.seen = { shift: 0, violations: [], ran: [] }
    document.addEventListener('securitypolicyviolation', (event) => {
      window.seen.violations.push(`${event.violatedDirective} ${event.blockedURI}`)
    })
    const add = (list: PerformanceObserverEntryList) => {
      // Shifts soon after a click count here too, which the metric itself would forgive.
      for (const entry of list.getEntries()) window.seen.shift += (entry as unknown as { value: number }).value
    }
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
  })
}

/** What has been noted, once two frames have been drawn. */
export async function seenBy(page: Page): Promise<Window['seen']> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  await page.waitForTimeout(50)
  return page.evaluate(() => window.seen)
}
