import { expect, test } from 'vitest'
import { PICTURES } from '../support/admin-host.ts'
import { startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const chromium = forThisFile(() => startChromium())
const english = forThisFile(() => startAdminLab())
const arabic = forThisFile(() => startAdminLab({ sessmgr: { texts: { lang: 'ar', dir: 'rtl' } } }))

// The direction need not be that of the language.
const mirrored = forThisFile(() => startAdminLab({ sessmgr: { texts: { dir: 'rtl' } } }))

test('times are in the language of the page, whatever that of the browser is', async () => {
  const page = await english.open(chromium, '/sessions?user=admin', { locale: 'de-DE' })
  await page.getByRole('button', { name: 'Live' }).waitFor()
  expect(await page.locator('tbody .cell-until').first().textContent()).toMatch(/^\d+ (days|hours)/)
})

test('times of a page in Arabic are in Arabic', async () => {
  const page = await arabic.open(chromium, '/sessions?user=admin', { locale: 'en-US' })
  await page.locator('tbody time').first().waitFor()
  expect(await page.locator('tbody time').first().textContent()).toMatch(/\p{Script=Arabic}/u)
})

test('from right to left, cards and switches are mirrored and keys go the other way', async () => {
  const page = await mirrored.open(chromium)
  const group = page.getByRole('radiogroup')
  await group.waitFor()
  const [radio, label] = await Promise.all(
    ['.radio', '.choice-label'].map((part) => group.locator(part).first().boundingBox()),
  )
  expect(radio?.x).toBeGreaterThan(label?.x ?? 0)
  await page.screenshot({ path: `${PICTURES}admin-settings-rtl.png` })
  await page.getByLabel('Active Logins Limit').fill('7')
  const isTooWide = await page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  )
  expect(isTooWide).toBe(false)
  const toggle = page.getByRole('switch')
  expect(await toggle.isChecked()).toBe(true)
  // The thumb is at the right edge, and moves from there into the track.
  expect(await toggle.evaluate((track) => getComputedStyle(track, '::before').translate)).toBe('-18px')
  await page.goto(`${mirrored.origin}/admin/sessions?user=admin`)
  const arrow = page.getByRole('link', { name: 'Everybody' }).locator('.arrow')
  expect(await arrow.evaluate((element) => getComputedStyle(element).transform)).toBe('matrix(-1, 0, 0, 1, 0, 0)')
})
