import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { PICTURES } from './admin-host.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Lists the rules that axe finds broken. */
export async function axe(page: Page): Promise<unknown> {
  await page.evaluate(AXE)
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
}

/** Ends all transitions, such as from one color scheme to the other. */
const SETTLED = `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() =>
  document.getAnimations().forEach((animation) => animation.finish()))`

/** Whether each page is looked at in every width and colour scheme, as before a release. */
export const IS_WHOLE_MATRIX = Boolean(process.env.ROUNDS)

/** How a page can be shown: the emulated colours, and the direction of the text if it is not the page's own. */
const LOOKS = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['forced', { colorScheme: 'dark', forcedColors: 'active' }],
  ['rtl', { colorScheme: 'light' }],
] as const

/**
 * Returns what is wrong with the look of a page: what axe finds, and what is too wide for the window.
 *
 * For a merge, axe sees the narrowest window in light and the widest in dark colours. The campaign shows it every width
 * in both, in forced colours and from right to left, and takes a picture of each, with this name.
 */
export async function faultsOf(page: Page, name: string, widths = [320, 768, 1280]): Promise<unknown[]> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(AXE)
  const faults: unknown[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    for (const [look, media] of LOOKS) {
      const merged = { light: Math.min(...widths), dark: Math.max(...widths), forced: 0, rtl: 0 }
      if (merged[look] !== width && !IS_WHOLE_MATRIX) continue
      const dir = await page.evaluate(() => document.documentElement.dir)
      if (look === 'rtl') await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
      await page.emulateMedia({ ...(IS_WHOLE_MATRIX && { forcedColors: 'none' }), ...media })
      await page.evaluate(SETTLED).catch(() => {})
      if (IS_WHOLE_MATRIX) await page.screenshot({ path: `${PICTURES}${name}-${width}-${look}.png`, fullPage: true })
      // With forced colors, axe compares colors that the browser does not draw.
      const rules = look === 'forced' ? `rules: { 'color-contrast': { enabled: false } }` : ''
      const found = (await page.evaluate(
        `axe.run(document, { resultTypes: ['violations'], ${rules} }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => [id, target.join(' '), failureSummary])))`,
      )) as unknown[]
      faults.push(...found)
      const isTooWide = await page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      )
      if (isTooWide) faults.push(`${name} scrolls sideways at ${width} px, ${look}`)
      await page.evaluate((own) => document.documentElement.setAttribute('dir', own), dir)
    }
  }
  return faults
}
