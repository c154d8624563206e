import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { createRestUsers } from '../../support/rest-users.ts'

const host = forThisFile(() => startAdminHost())
const users = createRestUsers()
const lab = forThisFile(() => startAdminLab({ users }))
beforeEach(async () => {
  await host.reset()
  await lab.limiter.sessions.endAll(1)
  await lab.limiter.settings.update({ maximum: 5 })
})

const limit = (page: Page) => page.getByLabel('Active Logins Limit')
const save = (page: Page) => page.getByRole('button', { name: 'Save Changes' })
const saved = (page: Page) => page.getByText('Settings saved.').first().waitFor()
const stored = () => host.limiter.settings.get()
const storedInLab = async () => (await lab.limiter.settings.get()).maximum
const dialogOf = (page: Page) => page.getByRole('alertdialog', { name: 'Another user has changed this' })
const signedOut = (page: Page) => page.getByText('You have been signed out')
const toasts = (page: Page) => page.locator('.toast')

test('a value that somebody else has changed meanwhile is asked about, each time, before it is overwritten', async () => {
  const page = await host.open()
  await limit(page).fill('7')
  await host.limiter.settings.update({ maximum: 42 })
  // What one saw when the edit began is what it is measured against, also when the window comes back.
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
  await save(page).click()
  await dialogOf(page).getByText('Active Logins Limit, 5 → 42. Yours: 7.').waitFor()
  await page.screenshot({ path: `${PICTURES}admin-save-conflict.png` })
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  expect([await limit(page).inputValue(), (await stored()).maximum]).toEqual(['7', 42])
  await save(page).click()
  await dialogOf(page).waitFor()
  await host.limiter.settings.update({ maximum: 50 })
  await page.getByRole('button', { name: 'Save mine' }).click()
  await dialogOf(page).getByText('Active Logins Limit, 42 → 50. Yours: 7.').waitFor()
  expect((await stored()).maximum).toBe(50)
  await page.getByRole('button', { name: 'Save mine' }).click()
  await saved(page)
  expect([await limit(page).inputValue(), (await stored()).maximum]).toEqual(['7', 7])

  await limit(page).fill('8')
  await page.getByRole('radio', { name: 'Block New' }).click()
  await host.limiter.settings.update({ maximum: 43 })
  await save(page).click()
  await dialogOf(page).getByRole('button', { name: 'Use theirs' }).click()
  await expect.poll(stored).toMatchObject({ maximum: 43, logic: 'block' })
  await expect.poll(() => limit(page).inputValue()).toBe('43')
})

test('another value that somebody else has changed is saved over nothing, told, and marked for ten seconds', async () => {
  const page = await host.openWithClock()
  await limit(page).fill('7')
  await host.limiter.settings.update({ logic: 'block' })
  await save(page).click()
  await page.getByText('Saved. Another user has changed Login Logic to Block New.').first().waitFor()
  expect(await stored()).toMatchObject({ maximum: 7, logic: 'block' })
  expect(await page.getByRole('radio', { name: 'Block New' }).isChecked()).toBe(true)
  await page.locator('.field.changed').getByText('Login Logic').waitFor()
  await expect.poll(() => page.locator('.changed').count()).toBe(1)
  await page.clock.runFor(11_000)
  await page.locator('.changed').waitFor({ state: 'detached' })
})

test('a save that fails leaves its trace in the bar until the next try, and keeps the edit', async () => {
  const page = await host.openWithClock()
  await limit(page).fill('2')
  await page.context().setOffline(true)
  await save(page).click()
  const bar = page.locator('.save-bar')
  await bar.getByText('Not saved. The server is not responding.').waitFor()
  await page.clock.runFor(60_000)
  await expect.poll(() => bar.getByText('Not saved. The server is not responding.').count()).toBe(1)
  await page.screenshot({ path: `${PICTURES}admin-save-failed.png` })
  await page.context().setOffline(false)
  await bar.getByText('Not saved. You are online again.').waitFor()
  const isNull = { status: 200, contentType: 'application/json', body: 'null' }
  await page.route('**/wp/v2/settings', (route) => route.fulfill(isNull), { times: 1 })
  await save(page).click()
  await bar.getByText('Not saved.', { exact: false }).waitFor()
  await expect.poll(() => bar.getByText('You are online again.').count()).toBe(0)
  expect(await limit(page).inputValue()).toBe('2')
  await save(page).click()
  await saved(page)
  await expect.poll(() => bar.getByText('Not saved').count()).toBe(0)
  expect(await stored()).toMatchObject({ maximum: 2 })
})

test('a nonce that has become too old is replaced, and the call made again, without a word', async () => {
  const page = await lab.open(host.chromium)
  await limit(page).fill('6')
  await page.evaluate(`window.sessmgr.restNonce = 'A'.repeat(32)`)
  const statuses: string[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    // Who changed the settings last is read again too, and the other tabs are loaded ahead.
    if (/\/audit$|\/assets\//.test(pathname)) return
    statuses.push(`${response.request().method()} ${pathname} ${response.status()}`)
  })
  await save(page).click()
  await saved(page)
  expect(statuses).toEqual(['POST /api/wp/v2/settings 403', 'GET /admin/ 200', 'POST /api/wp/v2/settings 200'])
  expect(await storedInLab()).toBe(6)

  // Each answer brings a fresh one, which the next call and add-ons use.
  await page.route('**/wp/v2/settings', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, headers: { ...response.headers(), 'x-host-nonce': 'fresh-one' } })
  })
  // No other call may bring another one, as the server does for a nonce that it does not know.
  await page.route('**/sessmgr/v1/**', () => {})
  await page.reload()
  await limit(page).waitFor()
  expect(await page.evaluate('window.sessmgr.restNonce')).toBe('fresh-one')
})

test('after a logout the screen says so once, keeps the edits, and goes on after a new login', async () => {
  const page = await lab.open(host.chromium)
  for (const [maximum, signOut] of [
    [7, () => lab.limiter.sessions.logoutAllUsers()],
    [8, () => lab.limiter.sessions.endAll(1)],
  ] as const) {
    await limit(page).fill(String(maximum))
    const before = await storedInLab()
    await signOut()
    await save(page).click()
    await signedOut(page).waitFor()
    await expect.poll(() => toasts(page).count()).toBe(0)
    expect([await limit(page).inputValue(), await storedInLab()]).toEqual([String(maximum), before])
    await page.getByRole('button', { name: 'I have signed in' }).click()
    await page.getByRole('alert').getByText('You are not signed in yet.').waitFor()
    await expect.poll(() => toasts(page).count()).toBe(0)

    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: /^Sign in again/ }).click()
    const login = await opened
    await login.getByRole('heading', { name: 'Login' }).waitFor()
    expect(new URL(login.url()).searchParams.get('redirect_to')).toBe('/admin/signed-in')
    await login.goto(`${lab.origin}/sign-in/admin`)
    await login.goto(`${lab.origin}/admin/signed-in`)
    await login.getByRole('heading', { name: 'You are signed in. You can close this tab.' }).waitFor()
    await login.close()

    // Whoever comes back from the login need not say so.
    if (maximum === 7) await page.getByRole('button', { name: 'I have signed in' }).click()
    else await page.evaluate(`window.dispatchEvent(new Event('focus'))`)
    await signedOut(page).waitFor({ state: 'detached' })
    await toasts(page).getByText('Welcome back. Your changes are still here.').waitFor()
    await expect.poll(() => toasts(page).count()).toBe(1)
    await expect.poll(() => page.locator('[role=alert]').count()).toBe(0)
    expect(await limit(page).inputValue()).toBe(String(maximum))
    await save(page).click()
    await expect.poll(storedInLab).toBe(maximum)
  }
})

test.each([
  ['a desktop', { width: 1280, height: 600 }],
  ['a phone', { width: 360, height: 640 }],
])('the notice of a logout is seen at every place of the page, on %s', async (_name, viewport) => {
  const page = await lab.open(host.chromium, '/settings', { viewport })
  for (const place of [0, 0.5, 1]) {
    await limit(page).fill('7')
    await page.getByRole('heading', { name: 'Application Passwords' }).waitFor()
    await lab.limiter.sessions.endAll(1)
    await page.evaluate(`scrollTo(0, document.body.scrollHeight * ${place})`)
    await save(page).click()
    await signedOut(page).waitFor()
    const link = await page.getByRole('link', { name: /^Sign in again/ }).boundingBox()
    expect((await signedOut(page).boundingBox())?.y, `at ${place}`).toBeGreaterThanOrEqual(0)
    expect((link?.y ?? 0) + (link?.height ?? 0), `at ${place}`).toBeLessThanOrEqual(viewport.height)
    await page.screenshot({ path: `${PICTURES}admin-signed-out-${viewport.width}-${place}.png` })
    await page.request.get(`${lab.origin}/sign-in/admin`)
    await page.reload()
  }
})

test('a list notices the logout by itself, says so once, takes no click any more, and stops asking', async () => {
  const page = await (await lab.visitor(host.chromium, 'admin')).newPage()
  await page.clock.install()
  await page.goto(`${lab.origin}/admin/sessions?user=admin`)
  await page.getByText('1 of 5 session').waitFor()
  await page.getByRole('button', { name: 'Refresh' }).focus()
  await lab.limiter.sessions.endAll(1)
  await page.clock.runFor(15_000)
  await page.getByText('That happened just now. Sign in again in another tab').waitFor()
  let calls = 0
  page.on('request', (request) => {
    // The code of other tabs may still come.
    if (!request.url().includes('/assets/')) calls += 1
  })
  await page.clock.runFor(60_000)
  expect(calls).toBe(0)
  // The focus has left what is inert now.
  await expect.poll(() => page.evaluate(`document.activeElement.className`)).toBe('notice warning')
  await expect.poll(() => page.locator('section[inert]').count()).toBe(1)
  await expect.poll(() => page.getByRole('alert').count()).toBe(1)
  await expect.poll(() => toasts(page).count()).toBe(0)
  for (const words of ['You are no longer signed in.', 'Trying again'])
    expect(await page.getByText(words).count()).toBe(0)
})

test('whoever may no longer manage the site is told so, and keeps the edit', async () => {
  const page = await lab.open(host.chromium)
  await limit(page).fill('9')
  const admin = users.find(({ login }) => login === 'admin')
  if (admin) admin.role = 'editor'
  await save(page).click()
  await page.getByText('Your account is not allowed to do this.').first().waitFor()
  expect(await limit(page).inputValue()).toBe('9')
  if (admin) admin.role = 'administrator'
  expect(await storedInLab()).toBe(5)
})
