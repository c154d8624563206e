import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { createRestUsers } from '../../support/rest-users.ts'

const host = forThisFile(() => startAdminHost())
const CROWD = Array.from({ length: 120 }, (_, index) => ({
  id: 100 + index,
  login: `person${index}`,
  role: 'subscriber' as const,
}))
const lab = forThisFile(async () => {
  const started = await startAdminLab({ users: [...createRestUsers(), ...CROWD], sessmgr: { directory: true } })
  for (const { login } of CROWD) await fetch(`${started.origin}/sign-in/${login}`)
  return started
})

const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document
    const { top = -1, bottom = -1 } = element?.getBoundingClientRect() ?? {}
    return { text: element?.textContent, isInView: top >= 0 && bottom <= innerHeight + 60, tag: element?.tagName }
  })
const limit = (page: Page) => page.getByLabel('Active Logins Limit')

test('further rows take the focus from the button that shows them, also the last ones, and on a slow device', async () => {
  const page = await lab.open(host.chromium, '/sessions')
  await (await page.context().newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: 12 })
  const rows = page.locator('tbody [data-row]')
  await expect.poll(() => rows.count()).toBe(50)
  for (const shown of [50, 100]) {
    await page.getByRole('button', { name: 'Show 50 more' }).press('Enter')
    await expect.poll(() => rows.nth(shown).evaluate((row) => row === document.activeElement)).toBe(true)
    expect(await focused(page)).toMatchObject({ isInView: true })
  }
})

test('a second Enter on "Save Changes" does not overwrite what another administrator has saved', async () => {
  const page = await lab.open(host.chromium)
  await limit(page).fill('7')
  await lab.limiter.settings.update({ maximum: 4 })
  await page.getByRole('button', { name: 'Save Changes' }).press('Enter')
  await page.getByRole('button', { name: 'Save mine' }).waitFor()
  await page.waitForTimeout(300)
  await page.keyboard.press('Enter')
  await page.waitForTimeout(300)
  expect(await lab.limiter.settings.get()).toMatchObject({ maximum: 4 })
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('save-bar')
  await page.getByRole('button', { name: 'Load theirs' }).press('Enter')
  await expect.poll(() => limit(page).evaluate((field) => field === document.activeElement)).toBe(true)
})

test('with a dialog open, the notice of a logout has the focus once the dialog is closed', async () => {
  const page = await host.open('/sessions')
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
  await host.limiter.sessions.endAll(1)
  await page.evaluate(`window.dispatchEvent(new Event('online'))`)
  await page.getByText('You have been signed out').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(async () => (await focused(page)).text).toContain('You have been signed out')
})

test('back from a person, the row in the activity has the focus that opened them', async () => {
  for (const login of ['alice', 'bob', 'carol']) await host.signIn(login)
  const page = await host.open('/activity')
  const row = page.locator('[data-row]').filter({ hasText: 'Bob' }).first()
  await row.press('Enter')
  await page.getByRole('heading', { name: 'Bob' }).waitFor()
  await page.goBack()
  await expect.poll(() => row.evaluate((element) => element === document.activeElement)).toBe(true)
})

test('the bars and the ranking are there again when the server answers again', async () => {
  const page = await host.open('/activity')
  const bars = page.getByRole('slider')
  await bars.waitFor()
  await page.route('**/api/**', (route) => route.fulfill({ status: 503, body: 'away' }))
  await page.getByRole('link', { name: '7 days' }).click()
  await page.getByText(/returned status 503/).waitFor({ timeout: 20_000 })
  // Neither counts of another period nor controls that nobody sees.
  expect(await bars.count()).toBe(0)
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await bars.waitFor()
  await expect.poll(() => bars.evaluate((element) => element.checkVisibility({ opacityProperty: true }))).toBe(true)
})
