import { expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../support/admin-host.ts'
import { seenBy } from '../support/chromium.ts'
import { deferred } from '../support/deferred.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())

test('name and tabs are there before the script, and nothing moves when it and the options come', async () => {
  const page = await (await host.signIn('admin')).newPage()
  const [script, options] = [deferred(), deferred()]
  await page.route('**/assets/*.js', (route) => script.promise.then(() => route.continue()))
  await page.route('**/wp/v2/settings', (route) => options.promise.then(() => route.continue()))
  await page.goto(`${host.origin}/admin/settings`, { waitUntil: 'commit' })
  const tabs = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
  await page.getByRole('heading', { name: 'Session Manager' }).waitFor()
  const names = ['Sessions', 'Activity', 'Settings', 'Comments', 'Add-ons', 'Support']
  const places = () => tabs.evaluateAll((all) => all.map((link) => [link.textContent, link.getBoundingClientRect().x]))
  const before = await places()
  expect(before.map(([name]) => name)).toEqual(names)
  expect(await page.locator('.tabs [aria-current=page]').textContent()).toBe('Settings')
  await page.screenshot({ path: `${PICTURES}admin-first-paint.png` })
  script.resolve()
  await page.getByText('Skip to the content').waitFor({ state: 'attached' })
  expect(await places()).toEqual(before)
  options.resolve()
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  expect(await places()).toEqual(before)
  await expect.poll(() => page.getByRole('main').count()).toBe(1)
  const { shift, violations } = await seenBy(page)
  expect(violations).toEqual([])
  expect(shift).toBeLessThan(0.01)
})
