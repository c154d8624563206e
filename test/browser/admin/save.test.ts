import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { hold } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'
import { createRestUsers } from '../../support/rest-users.ts'

const host = forThisFile(() => startAdminHost())
const users = createRestUsers()
const lab = forThisFile(() => startAdminLab({ users }))
beforeEach(async () => {
  await host.reset()
  await lab.limiter.sessions.endAll(1)
  await lab.limiter.settings.reset()
  await lab.limiter.settings.update({ maximum: 5 })
})

const limit = (page: Page) => page.getByLabel('Active Logins Limit')
const save = (page: Page) => page.getByRole('button', { name: 'Save Changes' })
const saved = (page: Page) => page.getByText('Settings saved.').first().waitFor()
const stored = () => host.limiter.settings.get()
const storedInLab = async () => (await lab.limiter.settings.get()).maximum
const mine = (page: Page) => page.getByRole('button', { name: 'Save mine' })
const bar = (page: Page) => page.locator('.save-bar')
const signedOut = (page: Page) => page.getByText('You have been signed out')
const toasts = (page: Page) => page.locator('.toast')

test('what another administrator has saved meanwhile is named in the bar, and one takes theirs or saves mine', async () => {
  const page = await lab.open(host.chromium)
  await limit(page).fill('7')
  await page.getByLabel('Longest Session').fill('60')
  const doras = await (await lab.visitor(host.chromium, 'dora')).newPage()
  await doras.goto(`${lab.origin}/admin/settings`)
  await limit(doras).fill('4')
  await doras.getByRole('radio', { name: 'Block New' }).click()
  await save(doras).click()
  await saved(doras)
  // What one saw when the edit began is what it is measured against, also when the window comes back.
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
  await save(page).click()
  const theirs = 'DORA changed the settings meanwhile: Active Logins Limit is now 4 and Login Logic is now Block New.'
  await bar(page).getByText(theirs).waitFor()
  // Neither Enter nor the second half of a double click answers the question.
  await limit(page).press('Enter')
  await mine(page).dispatchEvent('click', { detail: 2 })
  expect(await faultsOf(page, 'admin-save-conflict', [360, 1280])).toEqual([])
  await bar(page).getByText(theirs).waitFor()
  expect([await limit(page).inputValue(), await storedInLab()]).toEqual(['7', 4])
  await page.getByRole('button', { name: 'Load theirs' }).click()
  await expect.poll(() => limit(page).inputValue()).toBe('4')
  expect(await page.getByRole('radio', { name: 'Block New' }).isChecked()).toBe(true)
  // What she has not changed is still edited.
  expect(await page.getByLabel('Longest Session').inputValue()).toBe('60')
  await page.getByRole('button', { name: 'Discard' }).click()

  await limit(page).fill('8')
  await lab.limiter.settings.update({ maximum: 42 })
  await save(page).click()
  await bar(page).getByText('Somebody changed the settings meanwhile: Active Logins Limit is now 42.').waitFor()
  await lab.limiter.settings.update({ maximum: 50, idle_release: 900 })
  await mine(page).click()
  await bar(page).getByText('Active Logins Limit is now 50 and Idle Release (Minutes) is now 15.').waitFor()
  expect(await storedInLab()).toBe(50)
  await mine(page).click()
  await saved(page)
  expect(await lab.limiter.settings.get()).toMatchObject({ maximum: 8, logic: 'block', idle_release: 900 })
  expect(await page.getByLabel('Idle Release').inputValue()).toBe('15')
})

test('of many changes, the bar names three, first those that it would overwrite', async () => {
  const page = await host.open()
  await page.getByLabel('Longest Session').fill('60')
  await host.limiter.settings.update({ maximum: 4, logic: 'block', idle_release: 900, max_age: 7200, enforce: false })
  await save(page).click()
  const three = 'Longest Session (Minutes) is now 120, Active Logins Limit is now 4, Login Logic is now Block New'
  await bar(page).getByText(`Somebody changed the settings meanwhile: ${three}, and 2 more.`).waitFor()
  await page.getByRole('button', { name: 'Load theirs' }).click()
  await expect.poll(() => page.getByLabel('Longest Session').inputValue()).toBe('120')
  await host.limiter.settings.update({ max_age: 0 })
})

test('another value that somebody else has changed does not stop a save, and is shown after it', async () => {
  const page = await host.open()
  await limit(page).fill('7')
  await host.limiter.settings.update({ logic: 'block' })
  await save(page).click()
  await saved(page)
  expect(await stored()).toMatchObject({ maximum: 7, logic: 'block' })
  await expect.poll(() => page.getByRole('radio', { name: 'Block New' }).isChecked()).toBe(true)
})

test('what is typed while a save is under way is kept, whether the save succeeds or meets a conflict', async () => {
  const page = await host.open()
  const release = await hold(page, '**/wp/v2/settings', 'POST')
  await limit(page).fill('7')
  await save(page).click()
  await limit(page).fill('5')
  await page.getByRole('button', { name: 'Saving…' }).waitFor()
  release()
  await saved(page)
  await page.getByText('Limit 7 → 5.').waitFor()
  expect([await limit(page).inputValue(), (await stored()).maximum]).toEqual(['5', 7])

  await host.limiter.settings.update({ maximum: 42 })
  const releaseRead = await hold(page, '**/wp/v2/settings', 'GET')
  await save(page).click()
  await page.getByRole('button', { name: 'Saving…' }).waitFor()
  await limit(page).fill('6')
  releaseRead()
  await bar(page).getByText('Active Logins Limit is now 42.').waitFor()
  await mine(page).click()
  await expect.poll(async () => (await stored()).maximum).toBe(6)
})

test('a save that fails leaves its trace in the bar until the next try, and keeps the edit', async () => {
  const page = await host.openWithClock()
  await limit(page).fill('2')
  await page.context().setOffline(true)
  await save(page).click()
  await bar(page).getByText('Not saved. The server is not responding.').waitFor()
  await page.clock.runFor(60_000)
  await expect.poll(() => bar(page).getByText('Not saved. The server is not responding.').count()).toBe(1)
  await page.screenshot({ path: `${PICTURES}admin-save-failed.png` })
  await page.context().setOffline(false)
  await bar(page).getByText('Not saved. You are online again.').waitFor()
  const isNull = { status: 200, contentType: 'application/json', body: 'null' }
  await page.route('**/wp/v2/settings', (route) => route.fulfill(isNull), { times: 1 })
  await save(page).click()
  await bar(page).getByText('Not saved.', { exact: false }).waitFor()
  await expect.poll(() => bar(page).getByText('You are online again.').count()).toBe(0)
  expect(await limit(page).inputValue()).toBe('2')
  await save(page).click()
  await saved(page)
  await expect.poll(() => bar(page).getByText('Not saved').count()).toBe(0)
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

test('a page does nothing in the name of somebody else who signs in meanwhile, until one says so', async () => {
  const page = await lab.open(host.chromium)
  await limit(page).fill('7')
  const before = await storedInLab()
  const other = await page.context().newPage()
  await other.goto(`${lab.origin}/sign-in/dora`)
  await save(page).click()
  await page.getByRole('alert').getByText('DORA is signed in now').waitFor()
  expect([await limit(page).inputValue(), await storedInLab()]).toEqual(['7', before])
  expect(await page.locator('.who bdi').textContent()).toBe('ADMIN')
  await other.goto(`${lab.origin}/sign-in/admin`)
  await page.evaluate(`window.dispatchEvent(new Event('focus'))`)
  await page.getByRole('alert').waitFor({ state: 'detached' })
  // A second press on the button that asks again does not choose whoever has signed in.
  await lab.limiter.sessions.endAll(1)
  await save(page).click()
  const ask = page.getByRole('button', { name: 'I have signed in' })
  await ask.focus()
  await other.goto(`${lab.origin}/sign-in/dora`)
  await page.keyboard.press('Enter')
  const goOn = page.getByRole('button', { name: 'Go on as DORA' })
  await goOn.waitFor()
  await page.keyboard.press('Enter')
  await page.waitForTimeout(300)
  expect([await goOn.count(), await storedInLab()]).toEqual([1, before])
  await goOn.click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  expect(await page.locator('.who bdi').textContent()).toBe('DORA')
  await save(page).click()
  await expect.poll(storedInLab).toBe(7)
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
  for (const words of ['You are no longer signed in.', 'Last update'])
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
