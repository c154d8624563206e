import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
const FILE = '**/assets/{comments-tab,activity-page}*'
const LOST = 'A file of this page did not load. Check your connection and try again.'

/** Opens the settings while the files of two other tabs do not load. */
async function openWithoutFiles(): Promise<Page> {
  const page = await (await host.signIn('admin')).newPage()
  await page.route(FILE, (route) => route.fulfill({ status: 503 }))
  await page.goto(`${host.origin}/admin/settings`)
  await page.getByLabel('Active Logins Limit').fill('7')
  return page
}

test('a tab whose file did not load opens once its file can be loaded, and blames no add-on meanwhile', async () => {
  const page = await openWithoutFiles()
  await page.evaluate('window.isSamePage = true')
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Comments', exact: true }).click()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  const lost = page.getByRole('alert').filter({ hasText: LOST })
  await lost.waitFor()
  await expect.poll(() => page.getByText(/add-on/).count()).toBe(0)
  await page.screenshot({ path: `${PICTURES}admin-lost-file.png` })
  const again = page.getByRole('button', { name: 'Try again' })
  await again.click()
  await lost.waitFor()
  await page.unroute(FILE)
  await page.context().setOffline(false)
  await again.click()
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  await page.getByRole('link', { name: 'Activity', exact: true }).click()
  const card = page.locator('.event-table')
  await card.waitFor()
  expect(await page.evaluate('window.isSamePage')).toBe(true)
  // Its rules have come as well.
  await expect.poll(() => card.evaluate((list) => getComputedStyle(list).getPropertyValue('--columns'))).not.toBe('')
})

test('a file that the server no longer has is found again by reloading the page', async () => {
  const page = await openWithoutFiles()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.evaluate('window.isSamePage = true')
  await page.getByRole('link', { name: 'Comments', exact: true }).click()
  await page.getByText(LOST).waitFor()
  const isReload = page.waitForRequest((request) => request.isNavigationRequest())
  await page.getByRole('button', { name: 'Try again' }).click()
  await isReload
  await page.unroute(FILE)
  await page.reload()
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  expect(await page.evaluate('window.isSamePage')).toBe(undefined)
})
