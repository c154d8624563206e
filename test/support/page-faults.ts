import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { PICTURES } from './admin-host.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Ends all transitions, such as from one color scheme to the other. */
const SETTLED = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() =>
  document.getAnimations().forEach((animation) => animation.finish()))`

/** Whether each page is looked at in every width and colour scheme, as before a release. */
export const IS_WHOLE_MATRIX = Boolean(process.env.ROUNDS)

/**
 * Returns what is wrong with the look of a page: what axe finds, and what is too wide for the window.
 *
 * For a merge, axe sees the narrowest window in light and the widest in dark colours. The campaign shows it every width
 * in both, and takes a picture of each, with this name.
 */
export async function faultsOf(page: Page, name: string, widths = [320, 768, 1280]): Promise<unknown[]> {
  await page.evaluate(AXE)
  const faults: unknown[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      const isSeen = width === (colorScheme === 'light' ? Math.min(...widths) : Math.max(...widths))
      if (!isSeen && !IS_WHOLE_MATRIX) continue
      await page.emulateMedia({ colorScheme })
      await page.evaluate(SETTLED).catch(() => {})
      if (IS_WHOLE_MATRIX)
        await page.screenshot({ path: `${PICTURES}${name}-${width}-${colorScheme}.png`, fullPage: true })
      const found = (await page.evaluate(
        `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary])))`,
      )) as unknown[]
      faults.push(...found)
    }
    const isTooWide = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    )
    if (isTooWide) faults.push(`${name} scrolls sideways at ${width} px`)
  }
  return faults
}
