import { beforeEach, expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { seenBy } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'

const host = await forThisFile(startAdminHost())
beforeEach(() => host.reset())

test('the sessions of a user say in words where they are, and which one is this', async () => {
  await host.signIn('admin', { userAgent: PHONE })
  await host.signIn('admin', { userAgent: FIREFOX })
  await host.signIn('admin', { userAgent: 'backup-script/1.0' })
  const page = await host.open('/sessions')
  await page.getByText('No user selected yet').waitFor()
  await page.getByLabel('User').fill('admin@example.test')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByText('4 live sessions').waitFor()
  const cards = page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3 }) })
  const names = await cards.getByRole('heading').allTextContents()
  expect(names).toEqual(['Chrome 156 on Linux', 'backup-script 1', 'Firefox 140 on Windows', 'Safari 18 on iOS'])
  const own = cards.filter({ hasText: 'This is you' })
  expect(await own.count()).toBe(1)
  expect(await own.getByRole('heading').textContent()).toBe('Chrome 156 on Linux')
  const phone = await cards.last().textContent()
  for (const part of ['Phone', 'IP address', '127.0.0.1', 'Signed in', 'Last seen', 'Expires']) {
    expect(phone).toContain(part)
  }
  const [record] = await host.limiter.sessions.list(1)
  const shown = await cards.last().locator('time').last().getAttribute('datetime')
  expect(Math.abs(Date.parse(shown ?? '') - (record?.expiresAt ?? 0))).toBeLessThan(60_000)
  await cards.last().locator('summary').press('Enter')
  await cards.last().getByText(`User agent: ${PHONE}`).waitFor()
  expect((await seenBy(page)).violations).toEqual([])
})

test('one session can be ended, and the others stay', async () => {
  await host.signIn('alice', { userAgent: PHONE })
  await host.signIn('alice', { userAgent: FIREFOX })
  const [phone, firefox] = await host.limiter.sessions.list(2)
  const page = await host.open('/sessions?user=alice')
  await page.getByRole('button', { name: 'Sign out Safari 18 on iOS' }).click()
  await page.getByText('Signed out Safari 18 on iOS.').first().waitFor()
  await page.getByText('1 live session', { exact: true }).waitFor()
  expect((await host.limiter.sessions.list(2)).map(({ token }) => token)).toEqual([firefox?.token])
  expect(host.actions).toEqual([['sessmgr_destroy_session', 2, phone?.token]])
})

test('all sessions can be ended, once one has said so twice', async () => {
  await host.signIn('alice')
  await host.signIn('alice')
  const page = await host.open('/sessions?user=2')
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Sign Alice out everywhere?' })
  await dialog.getByText('Alice will be signed out on 2 devices').waitFor()
  expect(await dialog.textContent()).not.toContain('yours')
  await dialog.getByRole('button', { name: 'Sign out 2' }).click()
  await page.getByRole('status').getByText('Not signed in anywhere').waitFor()
  expect(await host.limiter.sessions.list(2)).toEqual([])
  expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
})

test('Explain says what the limit does with the next login, and changes nothing', async () => {
  await host.limiter.settings.update({ maximum: 2, logic: 'logout_oldest' })
  await host.signIn('alice', { userAgent: PHONE })
  await host.signIn('alice', { userAgent: FIREFOX })
  host.actions.length = 0
  const page = await host.open('/sessions?user=alice')
  const explain = page.getByRole('button', { name: 'Explain' })
  const dialog = page.getByRole('dialog', { name: 'How the limit applies to Alice' })
  const close = async () => {
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await explain.click()
  await dialog.getByText('A login from a new browser succeeds and signs out this session:').waitFor()
  for (const sentence of [
    'Alice may have 2 sessions and has 2.',
    'Login Logic: Logout Oldest.',
    'Safari on iPhone, last seen',
  ]) {
    expect(await dialog.textContent()).toContain(sentence)
  }
  expect(await dialog.getByRole('listitem').count()).toBe(1)
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Close')
  await close()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Explain')

  const remove = host.limiter.hooks.addFilter('sessmgr_maximum', 'test', () => 3)
  await host.limiter.settings.update({ logic: 'ask', enforce: false, idle_release: 3600 })
  await page.reload()
  await explain.click()
  await dialog.getByText('A login from a new browser succeeds and signs out nothing.').waitFor()
  expect(await dialog.textContent()).toContain('Alice may have 3 sessions and has 2. This number comes from')
  await close()
  remove()
  await page.reload()
  await explain.click()
  await dialog.getByText('A login from a new browser has to choose a session to sign out.').waitFor()
  expect(await dialog.textContent()).toContain('Report only: this is what would happen')
  expect(await dialog.textContent()).toMatch(/There is room for it at .*:.*, if the sessions stay unused/)
  expect((await seenBy(page)).violations).toEqual([])
  expect([host.actions, (await host.limiter.sessions.list(2)).length]).toEqual([[], 2])
})

test('the own session ends only after a warning, and the screen says that one is signed out', async () => {
  const page = await host.open('/sessions?user=admin')
  await page.getByRole('button', { name: 'Sign out Chrome' }).click()
  await page.getByRole('alertdialog', { name: 'Sign yourself out?' }).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect(await host.limiter.sessions.list(1)).toHaveLength(1)
  await page.getByRole('button', { name: 'Sign out Chrome' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You have been signed out').waitFor()
  expect(await host.limiter.sessions.list(1)).toHaveLength(0)
})

test('whoever signs themselves out everywhere is told that one of the sessions is theirs', async () => {
  await host.signIn('admin', { userAgent: PHONE })
  const page = await host.open('/sessions?user=admin')
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  await page.getByRole('alertdialog').getByText('One of them is yours').waitFor()
})

test('the list stays up to date by itself, and is asked for by its address', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  await page.goto(`${host.origin}/admin/sessions?user=bob`)
  await page.getByRole('status').getByText('Not signed in anywhere').waitFor()
  await host.signIn('bob')
  await page.clock.runFor(15_000)
  await page.getByText('1 live session', { exact: true }).waitFor()
  await host.limiter.sessions.endAll(3)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('status').getByText('Not signed in anywhere').waitFor()
})

test('a list that comes in pages is shown whole', async () => {
  for (const userAgent of [PHONE, FIREFOX, FIREFOX]) await host.signIn('alice', { userAgent })
  const page = await (await host.signIn('admin')).newPage()
  await page.route('**/sessmgr/v1/sessions?*', (route) => route.continue({ url: `${route.request().url()}&limit=1` }))
  await page.goto(`${host.origin}/admin/sessions?user=alice`)
  await page.getByText('3 live sessions', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  await page.getByRole('button', { name: 'Sign out 3' }).waitFor()
})

test('a user who does not exist is said to be none, in the server’s words; another search finds one', async () => {
  const page = await host.open('/sessions?user=nobody')
  await page.getByText('This user does not exist.').waitFor()
  await page.getByLabel('User').fill('carol')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByRole('heading', { name: 'Carol' }).waitFor()
  expect(new URL(page.url()).search).toBe('?user=carol')
  expect(await page.title()).toBe('Carol – Sessions – Session Manager')
  expect(await page.getByText('Not signed in anywhere').count()).toBe(1)
  await page.goBack()
  await page.getByText('This user does not exist.').waitFor()
  expect(await page.title()).toBe('Sessions – Session Manager')
})

test('a server that does not answer is said not to, and is asked again on demand', async () => {
  const page = await host.open('/sessions?user=bob')
  await page.getByRole('heading', { name: 'Bob' }).waitFor()
  await page.context().setOffline(true)
  await page.getByLabel('User').fill('carol')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByText('The server is not responding.').waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Carol' }).waitFor()
})
