import { afterEach, beforeAll, expect, test } from 'vitest'
import { LicensingError } from '../../src/licensing.ts'
import { addonsLab, installFirst } from '../support/admin-addons.ts'
import { PICTURES } from '../support/admin-host.ts'
import { startAdminLab } from '../support/admin-lab.ts'
import { seenBy, startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const { vendor, trouble, options } = addonsLab()
const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() => startAdminLab(options))
const empty = forThisFile(() => startAdminLab())
beforeAll(() => installFirst(lab.limiter))
afterEach(() => {
  trouble.now = undefined
})

test('each add-on shows what it is, what it costs, and where it is to be had', async () => {
  const page = await lab.open(chromium, '/addons')
  const card = (title: string) => page.getByRole('listitem').filter({ hasText: title })
  const role = await card('Limits per role').textContent()
  for (const words of ['Active', 'Premium', 'Unlicensed', 'Gives every role a limit']) expect(role).toContain(words)
  expect(
    await card('Limits per role')
      .getByRole('link', { name: /Buy Now|Get it/ })
      .count(),
  ).toBe(0)
  const user = card('Limits per user')
  expect(await user.textContent()).not.toMatch(/Active|censed/)
  expect(await user.getByRole('link', { name: /^Buy Now/ }).getAttribute('href')).toBe('https://shop.example/12')
  expect(await user.getByRole('link', { name: /^More details/ }).getAttribute('href')).toBe(
    'https://shop.example/12/about',
  )
  const free = card('Session export')
  expect(await free.textContent()).toContain('Free')
  expect(await free.getByRole('link', { name: /^Get it/ }).getAttribute('href')).toBe(`${lab.origin}/add-ons/13`)
  await expect.poll(() => free.getByRole('link', { name: /^More details/ }).count()).toBe(0)
  expect((await seenBy(page)).violations).toEqual([])
})

test('a license is activated and deactivated, and what is wrong with a key is said beside the field', async () => {
  const page = await lab.open(chromium, '/addons')
  await page.getByRole('button', { name: 'Activate License: Limits per role' }).click()
  const dialog = page.getByRole('dialog', { name: 'Manage license — Limits per role' })
  const field = dialog.getByLabel('License Key')
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click()
  await dialog.getByText('Enter a license key first.').waitFor()
  await field.fill(await vendor.issue(12))
  await field.press('Enter')
  await dialog.getByText('This license is for another product.').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await field.fill('nonsense')
  const refused = page.waitForResponse((response) => response.url().endsWith('/addons/11/license'))
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click()
  const { message } = (await (await refused).json()) as { message: string }
  await dialog.getByText(message).waitFor()
  expect(await lab.limiter.addons.isLicensed(11)).toBe(false)

  await field.fill(`  ${await vendor.issue(11)}  `)
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByText('Licensed. Set it up under Settings.').first().waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect(await lab.limiter.addons.isLicensed(11)).toBe(true)
  await page.getByText('Licensed', { exact: true }).waitFor()

  const manage = page.getByRole('button', { name: 'Manage License: Limits per role' })
  await expect.poll(() => manage.evaluate((button) => document.activeElement === button)).toBe(true)
  await manage.click()
  await dialog.getByRole('button', { name: 'Deactivate…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('License deactivated.').first().waitFor()
  expect(await lab.limiter.addons.isLicensed(11)).toBe(false)
  await page.getByText('Unlicensed', { exact: true }).waitFor()
})

test('no key press deactivates a license: the dialog opens on Close, and Deactivate asks with Cancel first', async () => {
  const expiresAt = new Date('2031-05-17T12:00:00Z')
  const key = await vendor.issue(11, { expiresAt })
  await lab.limiter.addons.activate(11, key)
  const page = await lab.open(chromium, '/addons')
  const manage = page.getByRole('button', { name: 'Manage License: Limits per role' })
  const focused = () => page.evaluate(() => document.activeElement?.textContent)
  await manage.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Manage license — Limits per role' })
  await expect.poll(focused).toBe('Close')
  await expect.poll(() => dialog.locator('form').count()).toBe(0)
  const text = (await dialog.textContent()) ?? ''
  expect(text).toContain(`${key.slice(0, 4)}…${key.slice(-4)}`)
  expect(text).toContain('Valid until May 17, 2031.')
  expect(await page.content()).not.toContain(key)
  await page.screenshot({ path: `${PICTURES}admin-license-active.png` })
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => manage.evaluate((button) => document.activeElement === button)).toBe(true)

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await manage.press('Enter')
  await dialog.getByRole('button', { name: 'Copy the license key' }).click()
  await page.getByText('Copied.').first().waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)

  await dialog.getByRole('button', { name: 'Deactivate…' }).press('Enter')
  const question = page.getByRole('alertdialog', { name: 'Deactivate Limits per role on this site?' })
  await question.getByText('Its limits stop applying at the next login. The key can be used again.').waitFor()
  await expect.poll(focused).toBe('Cancel')
  await page.screenshot({ path: `${PICTURES}admin-license-ask.png` })
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  expect(await lab.limiter.addons.isLicensed(11)).toBe(true)
  await lab.limiter.addons.deactivate(11)
})

test('the license of an add-on that is gone can be given back', async () => {
  const gone = await startAdminLab(options)
  installFirst(gone.limiter)
  await gone.limiter.addons.activate(11, await vendor.issue(11))
  gone.limiter.hooks.removeFilter('sessmgr_register_addon', 'per-role')
  const page = await gone.open(chromium, '/addons')
  await page.getByRole('button', { name: 'Manage License: Limits per role' }).click()
  await page.getByRole('button', { name: 'Deactivate…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('License deactivated.').first().waitFor()
  await expect.poll(() => page.getByRole('button', { name: /License: Limits per role/ }).count()).toBe(0)
  expect(await gone.limiter.addons.isLicensed(11)).toBe(false)
  await gone.close()
})

test('the dialog closes with Escape and with Cancel, and nothing has happened', async () => {
  const page = await lab.open(chromium, '/addons')
  const open = page.getByRole('button', { name: 'Activate License: Limits per role' })
  await open.click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await open.click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await lab.limiter.addons.isLicensed(11)).toBe(false)
})

test('the catalogue is refreshed', async () => {
  const page = await lab.open(chromium, '/addons')
  const asked = page.waitForRequest((request) => request.url().endsWith('/addons/refresh'))
  await page.getByRole('button', { name: 'Refresh Add-ons' }).click()
  expect((await asked).method()).toBe('POST')
  await page.getByText('Add-ons refreshed.').first().waitFor()
})

test('a catalogue that fails is said to, and tried again on demand', async () => {
  trouble.now = new LicensingError('provider_unavailable')
  const fresh = await startAdminLab(options)
  const page = await fresh.open(chromium, '/addons')
  await page.getByText('The licensing provider is not responding. Try again later.').first().waitFor()
  trouble.now = undefined
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Limits per user' }).waitFor()
  await fresh.close()
})

test('where there are none and no provider, there is no such tab', async () => {
  const page = await empty.open(chromium)
  await page.getByRole('link', { name: 'Support' }).waitFor()
  expect(await page.getByRole('link', { name: 'Add-ons' }).count()).toBe(0)
})
