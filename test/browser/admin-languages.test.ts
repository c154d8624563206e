import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminLab, startAdminLab } from '../support/admin-lab.ts'
import { type Chromium, startChromium } from '../support/chromium.ts'

let chromium: Chromium
let lab: AdminLab
beforeAll(async () => {
  chromium = await startChromium()
  const texts = { lang: 'de', admin_tab_settings: 'Einstellungen', logic_block: 'Neue abweisen' }
  lab = await startAdminLab({ sessmgr: { texts } })
})
afterAll(async () => {
  await chromium?.close()
  await lab?.close()
})

test('rule 40: the screen shows the texts of the application, and English where there are none', async () => {
  const page = await lab.open(chromium, '/settings')
  await page.getByRole('link', { name: 'Einstellungen' }).waitFor()
  await page.getByText('Neue abweisen').first().waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  expect(await page.getByText('Active Logins Limit').count()).toBeGreaterThan(0)
  await page.context().close()
})
