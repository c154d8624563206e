/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const WITH_WINDOWS = '/usr/bin/chromium'
// The part that draws pages without windows takes less than half the time, but keeps no left page for going back to it.
const WITHOUT_WINDOWS = '/usr/bin/chromium-headless-shell'
// The default user agent of a headless browser looks like a bot's.
const READER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A real browser. Test files that run in one process share it, because starting one takes long. */
export interface Chromium {
  /** Opens a window that shares no cookies and no cache with other windows. */
  visitor(options?: BrowserContextOptions): Promise<BrowserContext>
  /** Closes the windows that were opened. */
  close(): Promise<void>
}

/** The running browsers by their options. They end with this process. */
const running = new Map<string, Promise<Browser>>()

/**
 * Starts the system's Chromium.
 *
 * @param keepsPages Whether the browser keeps left pages for going back to them, as readers' browsers do.
 * @param hasScrollBars Whether scroll bars take room, as on most desktops.
 */
export async function startChromium({ keepsPages = false, hasScrollBars = false } = {}): Promise<Chromium> {
  const browser = await launched(keepsPages, hasScrollBars)
  const windows: BrowserContext[] = []
  return {
    async visitor(options) {
      const context = await browser.newContext({ userAgent: READER, ...options })
      windows.push(context)
      context.setDefaultTimeout(30_000)
      const close = context.close.bind(context)
      // A page that polls may be in the middle of a route of its test, and that would fail after the test has ended.
      context.close = async () => {
        for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
        await close()
      }
      return context
    },
    async close() {
      for (const context of windows) await context.close()
    },
  }
}

async function launched(keepsPages: boolean, hasScrollBars: boolean): Promise<Browser> {
  const ignoreDefaultArgs = [
    ...(keepsPages ? ['--disable-back-forward-cache'] : []),
    ...(hasScrollBars ? ['--hide-scrollbars'] : []),
  ]
  const key = String(ignoreDefaultArgs)
  const known = await running.get(key)
  if (known?.isConnected()) return known
  const executablePath = keepsPages || !existsSync(WITHOUT_WINDOWS) ? WITH_WINDOWS : WITHOUT_WINDOWS
  if (!existsSync(executablePath)) throw new Error(`There is no ${executablePath}: install the package chromium.`)
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-chromium-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder }
  const starting = chromium.launch({ executablePath, args: QUIET, env, ignoreDefaultArgs })
  running.set(key, starting)
  return starting
}

declare global {
  interface Window {
    seen: { shift: number; violations: string[]; ran: unknown[] }
  }
}

/** Records layout shifts and violations of the page's policy from the start. Read by `seenBy`. */
export async function watch(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    window.seen = { shift: 0, violations: [], ran: [] }
    document.addEventListener('securitypolicyviolation', (event) => {
      window.seen.violations.push(`${event.violatedDirective} ${event.blockedURI}`)
    })
    const add = (list: PerformanceObserverEntryList) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
        if (!entry.hadRecentInput) window.seen.shift += entry.value
      }
    }
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
  })
}

/** Returns what was recorded, once two frames have been drawn. */
export async function seenBy(page: Page): Promise<Window['seen']> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  await page.waitForTimeout(50)
  return page.evaluate(() => window.seen)
}

/** Opens a page in a separate window, watched from the start. */
export async function visit(chromium: Chromium, url: string, options?: BrowserContextOptions): Promise<Page> {
  const context = await chromium.visitor(options)
  await watch(context)
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/** Resolves when the comments are in the page. */
export function commentsLoaded(page: Page): Promise<void> {
  return page.locator('lazy-comments[data-loaded=true]').first().waitFor({ state: 'attached' })
}

/** Keeps requests of a page waiting, those with this method if one is named, until the function that it gives is called. */
export async function hold(page: Page, url: string | RegExp, method?: string): Promise<() => void> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(url, async (route) => {
    if (method === undefined || route.request().method() === method) await released
    await route.continue()
  })
  return release
}

/** Returns the id of the focused element, or else its tag name. */
export function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)
}
