import { beforeEach, expect, test } from 'vitest'
import { startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { createRestUsers } from '../support/rest-users.ts'

const users = createRestUsers()
const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() => startAdminLab({ users }))
beforeEach(async () => {
  await lab.limiter.sessions.endAll(1)
  await lab.limiter.settings.update({ maximum: 5 })
})

const limit = 'Active Logins Limit'
const maximum = async () => (await lab.limiter.settings.get()).maximum

test('a nonce that has become too old is replaced, and the call made again, without a word', async () => {
  const page = await lab.open(chromium)
  await page.getByLabel(limit).fill('6')
  await page.evaluate(`window.sessmgr.restNonce = 'A'.repeat(32)`)
  const statuses: string[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    // Who changed the settings last is read again too, and the other tabs are loaded ahead.
    if (!/\/audit$|\/assets\//.test(pathname))
      statuses.push(`${response.request().method()} ${pathname} ${response.status()}`)
  })
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Settings saved.').first().waitFor()
  expect(statuses).toEqual(['POST /api/wp/v2/settings 403', 'GET /admin/ 200', 'POST /api/wp/v2/settings 200'])
  expect(await maximum()).toBe(6)
})

test('each answer brings a fresh nonce, which the next call and add-ons use', async () => {
  const page = await lab.open(chromium)
  await page.route('**/wp/v2/settings', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, headers: { ...response.headers(), 'x-host-nonce': 'fresh-one' } })
  })
  // No other call may bring another one, as the server does for a nonce that it does not know.
  await page.route('**/sessmgr/v1/**', () => {})
  await page.reload()
  await page.getByLabel(limit).waitFor()
  expect(await page.evaluate('window.sessmgr.restNonce')).toBe('fresh-one')
})

test.each([
  ['a site-wide logout', () => lab.limiter.sessions.logoutAllUsers()],
  ['a forced logout', () => lab.limiter.sessions.endAll(1)],
])('after %s the screen says so, keeps the edits, and goes on after a new login', async (_what, signOut) => {
  const page = await lab.open(chromium)
  await page.getByLabel(limit).fill('7')
  await signOut()
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('You have been signed out').waitFor()
  expect(await page.getByLabel(limit).inputValue()).toBe('7')
  expect(await maximum()).toBe(5)

  await page.getByRole('button', { name: 'I have signed in' }).click()
  await page.getByText('You are not signed in yet.').first().waitFor()

  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: /^Sign in again/ }).click()
  const login = await opened
  await login.getByRole('heading', { name: 'Login' }).waitFor()
  expect(new URL(login.url()).searchParams.get('redirect_to')).toBe('/admin/signed-in')
  await login.goto(`${lab.origin}/sign-in/admin`)
  await login.goto(`${lab.origin}/admin/signed-in`)
  await login.getByRole('heading', { name: 'You are signed in. You can close this tab.' }).waitFor()
  await login.close()

  await page.getByRole('button', { name: 'I have signed in' }).click()
  await page.getByText('You have been signed out').waitFor({ state: 'detached' })
  await page.getByText('Welcome back. Your changes are still here.').first().waitFor()
  expect(await page.getByLabel(limit).inputValue()).toBe('7')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Settings saved.').first().waitFor()
  expect(await maximum()).toBe(7)
})

test('whoever comes back from the login need not say so', async () => {
  const page = await lab.open(chromium)
  await page.getByLabel(limit).fill('8')
  await lab.limiter.sessions.endAll(1)
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('You have been signed out').waitFor()
  await page.request.get(`${lab.origin}/sign-in/admin`)
  await page.evaluate(`window.dispatchEvent(new Event('focus'))`)
  await page.getByText('You have been signed out').waitFor({ state: 'detached' })
  expect(await page.getByLabel(limit).inputValue()).toBe('8')
})

test('a list that refreshes itself notices the logout too, and then stops asking', async () => {
  const page = await (await lab.visitor(chromium, 'admin')).newPage()
  await page.clock.install()
  await page.goto(`${lab.origin}/admin/sessions?user=admin`)
  await page.getByText('1 of 5 session').waitFor()
  await lab.limiter.sessions.endAll(1)
  await page.clock.runFor(15_000)
  await page.getByText('That happened just now.').waitFor()
  let calls = 0
  page.on('request', (request) => {
    // The code of other tabs may still come.
    if (!request.url().includes('/assets/')) calls += 1
  })
  await page.clock.runFor(60_000)
  expect(calls).toBe(0)
})

test('the notice says who signed the user out, and takes the focus from what is inert now', async () => {
  const page = await lab.open(chromium, '/sessions?user=admin')
  const button = page.getByRole('button', { name: 'Refresh' })
  await button.waitFor()
  await lab.limiter.sessions.endAll(1)
  await button.focus()
  await button.press('Enter')
  await page.getByText('That happened just now. Sign in again in another tab').waitFor()
  await expect.poll(() => page.evaluate(`document.activeElement.className`)).toBe('notice warning')
})

test('whoever may no longer manage the site is told so', async () => {
  const page = await lab.open(chromium)
  await page.getByLabel(limit).fill('9')
  const admin = users.find(({ login }) => login === 'admin')
  if (admin) admin.role = 'editor'
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Your account is not allowed to do this.').first().waitFor()
  expect(await page.getByLabel(limit).inputValue()).toBe('9')
  if (admin) admin.role = 'administrator'
  expect(await maximum()).toBe(5)
})
