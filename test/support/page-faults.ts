import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { PICTURES } from './admin-host.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Ends all transitions, such as from one color scheme to the other. */
const SETTLED = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() =>
  document.getAnimations().forEach((animation) => animation.finish()))`

/**
 * Returns what is wrong with the look of a page, in each width and colour scheme: what axe finds, and what is too wide.
 * Takes a picture of each, with this name.
 */
export async function faultsOf(page: Page, name: string, widths = [320, 768, 1280]): Promise<unknown[]> {
  await page.evaluate(AXE)
  const faults: unknown[] = []
  for (const width of widths) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await page.evaluate(SETTLED).catch(() => {})
      await page.screenshot({ path: `${PICTURES}${name}-${width}-${colorScheme}.png`, fullPage: true })
      const found = (await page.evaluate(
        `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary])))`,
      )) as unknown[]
      const isTooWide = await page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      )
      faults.push(...found, ...(isTooWide ? [`${name} scrolls sideways at ${width} px`] : []))
    }
  }
  return faults
}
