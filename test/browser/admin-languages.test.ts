import { expect, test } from 'vitest'
import { startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const chromium = forThisFile(() => startChromium())
const texts = { lang: 'de', admin_tab_settings: 'Einstellungen', logic_block: 'Neue abweisen' }
const lab = forThisFile(() => startAdminLab({ sessmgr: { texts } }))

test('rule 40: the screen shows the texts of the application, and English where there are none', async () => {
  const page = await lab.open(chromium, '/settings')
  await page.getByRole('link', { name: 'Einstellungen' }).waitFor()
  await page.getByText('Neue abweisen').first().waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  await expect.poll(() => page.getByText('Active Logins Limit').count()).toBeGreaterThan(0)
  await page.context().close()
})
