import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'

/** Stores the coverage of every page of a window in a separate file, before the page is closed. */
export function notePageCoverage(context: BrowserContext, folder: string): void {
  const files = join(folder, 'pages')
  mkdirSync(files, { recursive: true })
  const started = new Map<Page, Promise<void>>()

  async function finish(page: Page) {
    const starting = started.get(page)
    started.delete(page)
    if (!starting || page.isClosed()) return
    try {
      await starting
      const entries = await page.coverage.stopJSCoverage()
      writeFileSync(join(files, `${randomUUID()}.json`), JSON.stringify(entries))
    } catch (error) {
      // A page that has crashed or is offline has no coverage.
      console.warn(`The coverage of a page is lost: ${(error as Error).message}`)
    }
  }

  context.on('page', (page) => {
    started.set(page, page.coverage.startJSCoverage({ resetOnNavigation: false }))
    const close = page.close.bind(page)
    page.close = async (options) => {
      await finish(page)
      await close(options)
    }
  })
  const close = context.close.bind(context)
  context.close = async (options) => {
    for (const page of [...started.keys()]) await finish(page)
    await close(options)
  }
}
