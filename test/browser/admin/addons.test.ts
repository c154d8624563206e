import { readFileSync } from 'node:fs'
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { LicensingError } from '../../../src/licensing.ts'
import { addonsLab, installFirst } from '../../support/admin-addons.ts'
import { type AdminLabOptions, startAdminLab } from '../../support/admin-lab.ts'
import { seenBy, startChromium } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const { vendor, trouble, options } = addonsLab()
const chromium = forThisFile(() => startChromium())
const support = { docs: '/help', contact: 'mailto:help@example.test' }
const lab = forThisFile(() => startAdminLab({ ...options, admin: { support } }))
const plain = forThisFile(() => startAdminLab())
beforeAll(() => installFirst(lab.limiter))
afterEach(async () => {
  trouble.now = undefined
  if (await lab.limiter.addons.isLicensed(11)) await lab.limiter.addons.deactivate(11)
})

/** An application for one test, with the first add-on installed. */
async function freshLab(more: AdminLabOptions = options) {
  const fresh = await startAdminLab(more)
  onTestFinished(() => fresh.close())
  const uninstall = () => fresh.limiter.hooks.removeFilter('sessmgr_register_addon', 'per-role')
  installFirst(fresh.limiter)
  return Object.assign(fresh, { uninstall })
}

test('each add-on shows what it is, what it costs, and where it is to be had; the catalogue is refreshed', async () => {
  const page = await lab.open(chromium, '/addons')
  const card = (title: string) => page.getByRole('listitem').filter({ hasText: title })
  const link = (title: string, name: RegExp) => card(title).getByRole('link', { name })
  const role = await card('Limits per role').textContent()
  for (const words of ['Active', 'Premium', 'Unlicensed', 'Gives every role a limit']) expect(role).toContain(words)
  expect(await link('Limits per role', /Buy Now|Get it/).count()).toBe(0)
  expect(await card('Limits per user').textContent()).not.toMatch(/Active|censed/)
  const hrefs = [link('Limits per user', /^Buy Now/), link('Limits per user', /^More details/)]
  expect(await hrefs[0]?.getAttribute('href')).toBe('https://shop.example/12')
  expect(await hrefs[1]?.getAttribute('href')).toBe('https://shop.example/12/about')
  expect(await card('Session export').textContent()).toContain('Free')
  expect(await link('Session export', /^Get it/).getAttribute('href')).toBe(`${lab.origin}/add-ons/13`)
  expect(await link('Session export', /^More details/).count()).toBe(0)
  const asked = page.waitForRequest((request) => request.url().endsWith('/addons/refresh'))
  await page.getByRole('button', { name: 'Refresh Add-ons' }).click()
  expect((await asked).method()).toBe('POST')
  await page.getByText('Add-ons refreshed.').first().waitFor()
  expect((await seenBy(page)).violations).toEqual([])
})

test('a license is activated and deactivated, and what is wrong with a key is said beside the field', async () => {
  const page = await lab.open(chromium, '/addons')
  const open = page.getByRole('button', { name: 'Activate License: Limits per role' })
  const dialog = page.getByRole('dialog', { name: 'Manage license — Limits per role' })
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => page.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await open.click()
    await close()
    await dialog.waitFor({ state: 'detached' })
  }
  await open.click()
  const field = dialog.getByLabel('License Key')
  const activate = dialog.getByRole('button', { name: 'Activate', exact: true })
  await activate.click()
  await dialog.getByText('Enter a license key first.').waitFor()
  await field.fill(await vendor.issue(12))
  await field.press('Enter')
  await dialog.getByText('This license is for another product.').waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await field.fill('nonsense')
  const refused = page.waitForResponse((response) => response.url().endsWith('/addons/11/license'))
  await activate.click()
  const { message } = (await (await refused).json()) as { message: string }
  await dialog.getByText(message).waitFor()
  expect(await lab.limiter.addons.isLicensed(11)).toBe(false)
  await field.fill(`  ${await vendor.issue(11)}  `)
  await activate.click()
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
  const key = await vendor.issue(11, { expiresAt: new Date('2031-05-17T12:00:00Z') })
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
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await dialog.getByRole('button', { name: 'Copy the license key' }).click()
  await page.getByText('Copied.').first().waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key)
  await dialog.getByRole('button', { name: 'Deactivate…' }).press('Enter')
  const question = page.getByRole('alertdialog', { name: 'Deactivate Limits per role on this site?' })
  await question.getByText('Its limits stop applying at the next login. The key can be used again.').waitFor()
  await expect.poll(focused).toBe('Cancel')
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  expect(await lab.limiter.addons.isLicensed(11)).toBe(true)
})

test('a catalogue that fails is said to, and tried again; the license of an add-on that is gone is given back', async () => {
  const gone = await freshLab()
  trouble.now = new LicensingError('provider_unavailable')
  const page = await gone.open(chromium, '/addons')
  await page.getByText('The licensing provider is not responding. Try again later.').first().waitFor()
  trouble.now = undefined
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Limits per user' }).waitFor()
  await gone.limiter.addons.activate(11, await vendor.issue(11))
  gone.uninstall()
  await page.reload()
  await page.getByRole('button', { name: 'Manage License: Limits per role' }).click()
  await page.getByRole('button', { name: 'Deactivate…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('License deactivated.').first().waitFor()
  await expect.poll(() => page.getByRole('button', { name: /License: Limits per role/ }).count()).toBe(0)
  expect(await gone.limiter.addons.isLicensed(11)).toBe(false)
})

test('the banner for add-ons is there while there is something to buy or to license, and only then', async () => {
  const fresh = await freshLab()
  const page = await fresh.open(chromium, '/settings?part=force')
  await page.getByText('Need finer control?').waitFor()
  fresh.limiter.hooks.addFilter('sessmgr_register_addon', 'per-user', (addons) => ({
    ...addons,
    12: { slug: 'per-user', is_premium: true, main_file: 'a.js', public_key: 'pk' },
  }))
  await page.reload()
  await page.getByText('Need finer control?').waitFor()
  for (const id of [11, 12]) await fresh.limiter.addons.activate(id, await vendor.issue(id))
  for (const origin of [fresh.origin, plain.origin]) {
    await page.request.get(`${origin}/sign-in/admin`)
    const asked = page.waitForResponse('**/sessmgr/v1/addons')
    await page.goto(`${origin}/admin/settings?part=force`)
    await asked
    await page.getByRole('heading', { name: 'Force Logout' }).waitFor()
    await seenBy(page)
    expect(await page.getByText('Need finer control?').count()).toBe(0)
  }
  // Without a provider, there is no tab either.
  expect(await page.getByRole('link', { name: 'Add-ons' }).count()).toBe(0)
})

test('the tab Support links to where there is help, and nowhere else; the page brings its own icon', async () => {
  const page = await lab.open(chromium, '/support')
  const panel = page.getByRole('region', { name: 'More help' })
  const links = () => panel.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  await expect.poll(links).toEqual(['/help', 'mailto:help@example.test'])
  const loaded = await page.evaluate(async () => {
    const icon = new Image()
    icon.src = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? ''
    await icon.decode()
    return icon.naturalWidth
  })
  expect(loaded).toBeGreaterThan(0)
  expect((await seenBy(page)).violations).toEqual([])
  const other = await plain.open(chromium, '/support')
  const bare = other.getByRole('region', { name: 'More help' })
  await bare.getByText('is in the node_modules/sessmgr/docs folder').waitFor()
  expect(await bare.getByRole('link').count()).toBe(0)
})

test('the report for a support request can be saved, and says what the browser knows without the server', async () => {
  const page = await lab.open(chromium, '/support')
  const report = page.locator('.report')
  // What it says of the server is asked in test/behaviour/rest/support.test.ts.
  await expect.poll(() => report.textContent()).toMatch(/\nAdd-ons: 11 \(not licensed\)\n/)
  expect(await report.textContent()).not.toMatch(/admin@|example\.test/)
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as a file' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('sessmgr-report.txt')
  expect(readFileSync(await saved.path(), 'utf8')).toBe(`${await report.textContent()}\n`)
  await page.route('**/sessmgr/v1/support', (route) => route.fulfill({ status: 404, body: 'no' }))
  await page.reload()
  await page.getByText('Server: no report').waitFor()
  expect(await report.textContent()).toMatch(/^Session Manager \d[\s\S]*\nBrowser: Mozilla/)
})
