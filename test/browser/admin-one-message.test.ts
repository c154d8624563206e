import { beforeEach, expect, test } from 'vitest'
import { startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() => startAdminLab())
beforeEach(() => lab.limiter.sessions.endAll(1))

test('whoever is signed out reads so once, and the list that is no longer true takes no click', async () => {
  const page = await lab.open(chromium, '/sessions?user=admin')
  await page.getByText('1 of 5 session').waitFor()
  await lab.limiter.sessions.endAll(1)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('You have been signed out').waitFor()
  await expect.poll(() => page.locator('section[inert]').count()).toBe(1)
  await expect.poll(() => page.getByRole('alert').count()).toBe(1)
  await expect.poll(() => page.locator('.toast').count()).toBe(0)
  await expect.poll(() => page.getByText('You are no longer signed in.').count()).toBe(0)
  await expect.poll(() => page.getByText('Trying again').count()).toBe(0)
})

test('no note is over the notice when one has ended the own session', async () => {
  const page = await lab.open(chromium, '/sessions?user=admin')
  await page.getByRole('button', { name: /^Sign out Chrome/ }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You have been signed out').waitFor()
  await expect.poll(() => page.locator('.toast').count()).toBe(0)
})

test('a save that fails because one is signed out brings the notice and nothing else; coming back takes all away', async () => {
  const page = await lab.open(chromium)
  await page.getByLabel('Active Logins Limit').fill('7')
  await lab.limiter.sessions.endAll(1)
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('You have been signed out').waitFor()
  await expect.poll(() => page.locator('.toast').count()).toBe(0)
  await page.getByRole('button', { name: 'I have signed in' }).click()
  await page.getByRole('alert').getByText('You are not signed in yet.').waitFor()
  await expect.poll(() => page.locator('.toast').count()).toBe(0)
  await page.request.get(`${lab.origin}/sign-in/admin`)
  await page.getByRole('button', { name: 'I have signed in' }).click()
  await page.getByText('You have been signed out').waitFor({ state: 'detached' })
  await page.locator('.toast').getByText('Welcome back. Your changes are still here.').waitFor()
  await expect.poll(() => page.locator('.toast').count()).toBe(1)
  await expect.poll(() => page.locator('[role=alert]').count()).toBe(0)
})
