import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = await forThisFile(startAdminHost())

const focusedText = (page: Page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || '')

test('a failure stays until something succeeds', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  await page.goto(`${host.origin}/admin/comments`)
  const clear = page.getByRole('button', { name: 'Clear comments cache' })
  await clear.waitFor()
  await page.context().setOffline(true)
  await clear.press('Enter')
  const failure = page.locator('.toast.error').getByText('The server is not responding.')
  await failure.waitFor()
  await page.clock.runFor(120_000)
  expect(await failure.count()).toBe(1)
  await page.context().setOffline(false)
  await clear.press('Enter')
  await page.locator('.toast').getByText('The comments cache has been cleared.').waitFor()
  expect(await failure.count()).toBe(0)
})

test('the focus is not lost with the button that had it', async () => {
  const page = await (await host.signIn('admin')).newPage()
  let isDown = true
  await page.route('**/wp/v2/settings', (route) => (isDown ? route.fulfill({ status: 400 }) : route.continue()))
  await page.goto(`${host.origin}/admin/settings`)
  const retry = page.getByRole('button', { name: 'Try again' })
  await retry.waitFor()
  isDown = false
  await retry.press('Enter')
  const limit = page.getByLabel('Active Logins Limit')
  await limit.waitFor()
  await expect.poll(() => focusedText(page)).toBe('content')
  await limit.fill('7')
  await page.getByRole('button', { name: 'Discard' }).press('Enter')
  await expect.poll(() => focusedText(page)).toBe('Save Changes')
})
