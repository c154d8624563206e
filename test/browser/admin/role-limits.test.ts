import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { product } from '../../../examples/addon-role-limits/product.ts'
import { demoVendorFile } from '../../behaviour/addon-role-limits/role-limits-host.ts'
import { type AdminHost, startAdminHost } from '../../support/admin-host.ts'
import { seenBy } from '../../support/chromium.ts'
import { faultsOf } from '../../support/page-faults.ts'

const UNLICENSED = 'Role Limits has no active license'

const { vendor, file, remove } = demoVendorFile()
let host: AdminHost
beforeAll(async () => {
  host = await startAdminHost({ env: { ADDON_ROLE_LIMITS: file } })
})
afterAll(async () => {
  await host?.close()
  remove()
})
beforeEach(async () => {
  await host.reset()
  await host.limiter.options.get('role_limits')?.update({ roles: {}, users: {} })
  await host.limiter.addons.activate(product.id, await vendor.issue(product.id))
})

const stored = () => host.limiter.options.get('role_limits')?.get()
const panel = (page: Page) => page.getByRole('region', { name: 'Role Limits' })
const roleField = (page: Page, role: string) => panel(page).getByLabel(`Limit for the role ${role}`)
const userField = (page: Page, login: string) => panel(page).getByLabel(`Limit for the user ${login}`)
const save = (page: Page) => page.getByRole('button', { name: 'Save Changes' }).click()

async function addUser(page: Page, login: string): Promise<void> {
  await panel(page).getByLabel('Login name of a user').fill(login)
  await panel(page).getByRole('button', { name: 'Add user limit' }).click()
}

/** Notes what the page posts from now on. */
function posts(page: Page): Request[] {
  const sent: Request[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request)
  })
  return sent
}

test('limits are edited, and saved in one call with the settings', async () => {
  const page = await host.open()
  const sent = posts(page)
  await roleField(page, 'editor').fill('2')
  await addUser(page, ' alice ')
  await userField(page, 'alice').fill('4')
  await page.getByLabel('Active Logins Limit').fill('6')
  await save(page)
  await page.getByText('Settings saved.').first().waitFor()
  expect(sent.map((request) => request.postDataJSON())).toEqual([
    { role_limits: { roles: { editor: 2 }, users: { alice: 4 } }, sessmgr_settings: { maximum: 6 } },
  ])
  expect(await stored()).toEqual({ roles: { editor: 2 }, users: { alice: 4 } })
  await page.reload()
  await expect.poll(() => roleField(page, 'editor').inputValue()).toBe('2')
  expect(await userField(page, 'alice').inputValue()).toBe('4')
  // An edit that leads back is none, and an emptied field takes the limit away.
  await roleField(page, 'editor').fill('')
  await page.getByText('You have unsaved changes.').waitFor()
  await roleField(page, 'editor').fill('2')
  await page.getByText('You have unsaved changes.').waitFor({ state: 'detached' })
  await roleField(page, 'administrator').fill('9')
  await roleField(page, 'administrator').fill('')
  await expect.poll(() => page.getByRole('button', { name: 'Save Changes' }).count()).toBe(0)
  await userField(page, 'alice').fill('')
  await save(page)
  await expect.poll(stored).toEqual({ roles: { editor: 2 }, users: {} })
  await userField(page, 'alice').waitFor({ state: 'detached' })
  await expect.poll(() => panel(page).getByText(UNLICENSED).count()).toBe(0)
  expect(await faultsOf(page, 'admin-role-limits')).toEqual([])
  expect((await seenBy(page)).violations).toEqual([])
})

test('what is no limit, refused by the server or added twice stands beside its field, and the edits stay', async () => {
  const page = await host.open()
  const sent = posts(page)
  await roleField(page, 'editor').fill('0')
  await save(page)
  await page.getByText('Nothing was saved').first().waitFor()
  expect(sent).toEqual([])
  // The browser takes this for a limit; the option does not.
  const tooLarge = `1${'0'.repeat(20)}`
  await roleField(page, 'editor').fill(tooLarge)
  await page.getByLabel('Active Logins Limit').fill('7')
  await save(page)
  await panel(page).locator('.problem').getByText('must be a whole number, 1 or more').waitFor()
  expect(await roleField(page, 'editor').inputValue()).toBe(tooLarge)
  expect(await page.getByLabel('Active Logins Limit').inputValue()).toBe('7')
  expect(await stored()).toEqual({ roles: {}, users: {} })
  expect((await host.limiter.settings.get()).maximum).toBe(5)

  await addUser(page, '  ')
  await panel(page).getByText('Enter a login name first.').waitFor()
  await addUser(page, 'alice')
  await expect.poll(() => userField(page, 'alice').evaluate((field) => document.activeElement === field)).toBe(true)
  await addUser(page, 'ALICE')
  await panel(page).getByText('This user is already in the list.').waitFor()
  const fields = panel(page).getByLabel(/^Limit for the user/)
  expect(await fields.count()).toBe(1)
})

test('without a license panel and catalogue say so; the limits stay, and a license is entered', async () => {
  await host.limiter.options.get('role_limits')?.update({ roles: { editor: 1 } })
  await host.limiter.addons.deactivate(product.id)
  const page = await host.open()
  await panel(page).getByText(UNLICENSED).waitFor()
  expect(await roleField(page, 'editor').inputValue()).toBe('1')
  expect(await faultsOf(page, 'admin-role-limits-unlicensed')).toEqual([])
  await panel(page).getByRole('link', { name: 'Activate a license' }).click()
  await page.getByText('Unlicensed', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Activate License: Role Limits' }).click()
  await page.getByLabel('License Key').fill(await vendor.issue(product.id))
  await page.getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByText('Licensed. Set it up under Settings.').first().waitFor()
  const settings = page.getByRole('link', { name: /^Settings\s*: Role Limits$/ })
  expect(await settings.getAttribute('href')).toBe('/admin/settings?part=addons')
  await page.getByRole('link', { name: 'Settings', exact: true }).click()
  await roleField(page, 'editor').waitFor()
  await panel(page).getByText(UNLICENSED).waitFor({ state: 'detached' })
  expect((await seenBy(page)).violations).toEqual([])
})

test('the script is served as one, to anybody, and nothing else is', async () => {
  const url = `${host.origin}/addons/role-limits.js`
  const script = await fetch(url)
  expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
  expect(await script.text()).toContain('window.sessmgr')
  const head = await fetch(url, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await fetch(url, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${host.origin}/addons/panel.js`)).status).toBe(404)
})
