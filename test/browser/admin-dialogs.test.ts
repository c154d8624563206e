import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startAdminLab } from '../support/admin-lab.ts'
import { seenBy, startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const chromium = forThisFile(() => startChromium({ hasScrollBars: true }))
const lab = forThisFile(() => startAdminLab())

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

/** Opens the settings, and the question whether all users shall be signed out. */
async function ask() {
  const page = await lab.open(chromium, '/settings?part=force', { viewport: { width: 1280, height: 500 } })
  const opener = page.getByRole('button', { name: 'Logout All Users' })
  await opener.scrollIntoViewIfNeeded()
  const place = () => page.evaluate(() => [scrollY, document.querySelector('main')?.getBoundingClientRect().x])
  const before = await place()
  await opener.click()
  const dialog = page.getByRole('alertdialog', { name: 'Sign everyone out?' })
  await dialog.waitFor()
  return { page, dialog, place, before }
}

test('a question takes the focus to Cancel, keeps it, and gives it back', async () => {
  const { page, dialog } = await ask()
  await expect.poll(() => focused(page)).toBe('Cancel')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Logout All Users')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Cancel')
  await page.keyboard.press('Shift+Tab')
  await expect.poll(() => focused(page)).toBe('Logout All Users')
  await expect.poll(() => dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('Logout All Users')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('Logout All Users')
  expect((await seenBy(page)).violations).toEqual([])
})

test('behind a question nothing moves, scrolls or can be used, and a click there answers nothing', async () => {
  const { page, dialog, place, before } = await ask()
  expect(await place()).toEqual(before)
  await page.mouse.move(640, 250)
  await page.mouse.wheel(0, -300)
  await page.mouse.move(20, 20)
  await page.mouse.wheel(0, -300)
  await page.keyboard.press('PageUp')
  await page.mouse.click(20, 20)
  const field = page.getByLabel('User', { exact: true })
  await field.evaluate((input) => input.focus())
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(false)
  // Drawn twice, a scroll that has begun would have shown.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  expect(await place()).toEqual(before)
  expect(await dialog.isVisible()).toBe(true)
})

test('a dialog that asks nothing is closed by a click beside it', async () => {
  const page = await lab.open(chromium, '/sessions?user=admin')
  const opener = page.getByRole('button', { name: /Explain/ })
  await opener.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Close' }).waitFor()
  await dialog.click({ position: { x: 5, y: 5 } })
  expect(await dialog.isVisible()).toBe(true)
  await page.mouse.click(20, 20)
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => opener.evaluate((button) => button === document.activeElement)).toBe(true)
})

test('a toast stays while somebody points at it, lies over a dialog, and takes the focus when it is dismissed', async () => {
  const page = await (await lab.visitor(chromium, 'admin')).newPage()
  await page.clock.install()
  await page.goto(`${lab.origin}/admin/settings?part=force`)
  await page.getByRole('button', { name: 'Logout All Users' }).click()
  await page.getByRole('alertdialog').waitFor()
  await page.evaluate(`sessmgr.toast('Done.')`)
  const toast = page.locator('.toast')
  const { x = 0, y = 0 } = (await toast.boundingBox()) ?? {}
  const look = async () =>
    (
      await page.screenshot({ clip: { x: x + 10, y: y + 10, width: 200, height: 20 }, animations: 'disabled' })
    ).toString('base64')
  const overDialog = await look()
  await page.keyboard.press('Escape')
  expect(await look()).toBe(overDialog)
  await toast.hover()
  await page.clock.runFor(30_000)
  await expect.poll(() => toast.count()).toBe(1)
  await page.mouse.move(20, 300)
  await page.clock.runFor(10_000)
  await toast.waitFor({ state: 'detached' })
  await page.evaluate(`sessmgr.toast('That failed.', 'error')`)
  await page.clock.runFor(60_000)
  await page.getByRole('button', { name: 'Dismiss' }).press('Enter')
  await toast.waitFor({ state: 'detached' })
  expect(
    await page.getByRole('region', { name: 'Notifications' }).evaluate((list) => list === document.activeElement),
  ).toBe(true)
})
