import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../support/admin-host.ts'
import { startAdminLab } from '../support/admin-lab.ts'
import { seenBy } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'

const host = await forThisFile(startAdminHost())
const bare = await forThisFile(startAdminLab())
beforeEach(() => host.reset())
const rows = (page: Page) => page.getByRole('grid').locator('tbody tr')
const search = (page: Page) => page.getByRole('combobox', { name: 'Find a user' })

test('the sessions of a user say in words where they are, and which one is this', async () => {
  await host.signIn('admin', { userAgent: PHONE })
  await host.signIn('admin', { userAgent: FIREFOX })
  await host.signIn('admin', { userAgent: 'backup-script/1.0' })
  const page = await host.open('/sessions')
  await search(page).fill('admin@example.test')
  await search(page).press('Enter')
  await page.getByText('4 of 5 sessions').waitFor()
  const names = await rows(page).locator('.row-name').allTextContents()
  const devices = ['Chrome 156 on Linux', 'Firefox 140 on Windows', 'Safari 18 on iPhone', 'backup-script 1']
  expect(names.toSorted()).toEqual(devices)
  const own = rows(page).filter({ hasText: 'This is you' })
  expect(await own.count()).toBe(1)
  expect(await own.locator('.row-name').textContent()).toBe('Chrome 156 on Linux')
  const heights = await rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  expect(Math.max(...heights)).toBeLessThanOrEqual(62)
  const phone = rows(page).filter({ hasText: 'Safari' })
  expect(await phone.textContent()).toContain('127.0.0.1')
  const name = phone.getByRole('button', { name: 'Safari 18 on iPhone', exact: true })
  expect(await name.getAttribute('aria-expanded')).toBe('false')
  await name.click()
  expect(await name.getAttribute('aria-expanded')).toBe('true')
  await phone.getByText(PHONE).waitFor()
  const [record] = await host.limiter.sessions.list(1)
  const details = (await phone.locator('dl').textContent()) ?? ''
  for (const part of ['Last used', 'Signed in', 'Expires', record?.token.slice(0, 8) ?? '']) {
    expect(details).toContain(part)
  }
  expect(details).toContain(', or up to 1 minute later')
  expect(details).toContain('Remembered for2 days after the last use')
  expect((await seenBy(page)).violations).toEqual([])
})

test('one session can be ended, and the others stay', async () => {
  await host.signIn('alice', { userAgent: PHONE })
  await host.signIn('alice', { userAgent: FIREFOX })
  const [phone, firefox] = await host.limiter.sessions.list(2)
  const page = await host.open('/sessions?user=alice')
  await page.getByRole('button', { name: 'Sign out Safari 18 on iPhone' }).click()
  await page.getByText('Signed out Safari 18 on iPhone.').first().waitFor()
  await page.getByText('1 of 5 sessions').waitFor()
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
  await page.getByText('0 of 5 sessions').waitFor()
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
    'Safari on iPhone, last used',
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

test('several sessions end at once; a question warns of the own one, and the own page ends the others', async () => {
  await host.signIn('admin', { userAgent: PHONE })
  const page = await host.open('/sessions?user=admin')
  await page.getByRole('checkbox', { name: 'Select all' }).click()
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Sign out 2…' }).click()
  await page.getByRole('alertdialog').getByText('One of them is the one you are using.').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Sign out everywhere else…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('1 of 5 sessions').waitFor()
  expect(await host.limiter.sessions.list(1)).toHaveLength(1)
  expect(await rows(page).filter({ hasText: 'This is you' }).count()).toBe(1)
})

test('the list stays up to date by itself, and is asked for by its address', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  await page.goto(`${host.origin}/admin/sessions?user=bob`)
  await page.getByText('Bob is not signed in anywhere.').waitFor()
  await host.signIn('bob')
  await page.clock.runFor(15_000)
  await page.getByRole('button', { name: '1 new session · show' }).waitFor()
  await host.limiter.sessions.endAll(3)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('Bob is not signed in anywhere.').waitFor()
})

test('a list that comes in pages is shown whole', async () => {
  for (const userAgent of [PHONE, FIREFOX, FIREFOX]) await host.signIn('alice', { userAgent })
  const page = await (await host.signIn('admin')).newPage()
  await page.route('**/sessmgr/v1/sessions?*', (route) => route.continue({ url: `${route.request().url()}&limit=1` }))
  await page.goto(`${host.origin}/admin/sessions?user=alice`)
  await page.getByText('3 of 5 sessions').waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  await page.getByRole('button', { name: 'Sign out 3' }).waitFor()
})

test('a user who does not exist is said to be none, with the closest names; another search finds one', async () => {
  const page = await host.open('/sessions?user=caro')
  await page.getByText('Nobody is called “caro”.').waitFor()
  await page.getByRole('link', { name: 'Carol' }).waitFor()
  await search(page).fill('nobody')
  await search(page).press('Enter')
  await page.getByText('Try the e-mail address.').waitFor()
  await search(page).fill('carol')
  await search(page).press('Enter')
  await page.getByRole('heading', { name: 'Carol' }).waitFor()
  expect(new URL(page.url()).search).toBe('?user=carol')
  expect(await page.title()).toBe('Carol – Sessions – Session Manager')
  await page.goBack()
  await page.getByText('Nobody is called “nobody”.').waitFor()
  expect(await page.title()).toBe('Sessions – Session Manager')
})

test('a server that does not answer is said not to, and is asked again on demand', async () => {
  const page = await host.open('/sessions?user=nobody')
  await page.getByText('Nobody is called').waitFor()
  await page.route('**/sessmgr/v1/sessions?*', (route) => route.abort())
  await search(page).fill('carol')
  await search(page).press('Enter')
  await page.getByText('The server is not responding.').waitFor()
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Carol' }).waitFor()
})

test('a part of a name finds users as one types, and the keys choose one', async () => {
  const page = await host.open('/sessions')
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('ali')
  await page.getByRole('option', { name: /^Alice/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  expect(await search(page).getAttribute('aria-activedescendant')).toBeTruthy()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Alice' }).waitFor()
})

test('Enter opens the only user found, and an address says that nobody is signed in from it', async () => {
  const page = await host.open('/sessions')
  await search(page).fill('alice@')
  await page.getByRole('option', { name: /^Alice/ }).waitFor()
  await search(page).press('Enter')
  await page.getByRole('heading', { name: 'Alice' }).waitFor()
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await keys.getByText('Space').waitFor()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await page.goBack()
  await expect.poll(() => search(page).evaluate((field) => field === document.activeElement)).toBe(true)
  await search(page).fill('203.0.113.1')
  await search(page).press('Enter')
  await page.getByText('Nobody is signed in from 203.0.113.1.').waitFor()
})

test('offline, the lists say so at once and sign nobody out; online, they are read again at once', async () => {
  const page = await host.open('/sessions?user=admin')
  await page.getByText('Up to date.').waitFor()
  await page.context().setOffline(true)
  await page.getByText('You are offline.').waitFor()
  const end = page.getByRole('button', { name: 'Sign out Chrome' })
  expect(await end.getAttribute('aria-disabled')).toBe('true')
  const read = page.waitForRequest('**/sessmgr/v1/sessions?*')
  await page.context().setOffline(false)
  await Promise.all([read, page.getByText('Up to date.').waitFor()])
  expect(await end.getAttribute('aria-disabled')).toBeNull()
})

test('everybody who is signed in is listed with figures, and a person is opened and signed out by keys', async () => {
  await host.signIn('alice', { userAgent: PHONE })
  await host.signIn('alice', { userAgent: FIREFOX })
  const page = await host.open('')
  await expect.poll(() => page.locator('.figures').textContent()).toContain('People signed in2')
  expect(await page.locator('.figures').textContent()).toContain('Live sessions3')
  const alice = rows(page).filter({ hasText: 'Alice' })
  await alice.getByText('2 of 5').waitFor()
  expect(await alice.getByRole('meter').getAttribute('aria-label')).toBe('2 of 5 places used')
  expect(await alice.textContent()).toContain('1 computer, 1 phone')
  const heights = await rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  expect(Math.max(...heights)).toBeLessThanOrEqual(62)
  await page.screenshot({ path: `${PICTURES}admin-people.png` })

  await rows(page).first().focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Home')
  expect(await page.evaluate(() => document.activeElement?.matches('tr:first-child'))).toBe(true)
  await alice.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Alice' }).waitFor()
  await page.getByRole('link', { name: 'Everybody' }).click()
  await expect.poll(() => alice.evaluate((row) => row === document.activeElement)).toBe(true)
  await page.keyboard.press('Delete')
  await page.getByRole('alertdialog', { name: 'Sign Alice out everywhere?' }).waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out 2' }).click()
  await page.getByText('Alice is signed out everywhere.').first().waitFor()
  expect(await host.limiter.sessions.list(2)).toEqual([])
  expect(await alice.textContent()).toContain('Signed out')

  await page.getByRole('combobox', { name: 'Filter' }).selectOption('At their limit')
  await page.getByText('Nobody matches this filter.').waitFor()
  expect(new URL(page.url()).search).toBe('?show=at_limit&sort=recent')
  expect((await seenBy(page)).violations).toEqual([])
})

test('without the option directory there is only the search, with the users who were looked up last', async () => {
  const page = await bare.open(host.chromium, '/sessions?user=bob')
  await page.getByRole('heading', { name: 'BOB' }).waitFor()
  await page.getByRole('link', { name: 'Everybody' }).click()
  await page.getByText('switch on the option “directory”').waitFor()
  expect(await page.getByRole('link', { name: 'Documentation' }).getAttribute('href')).toBe('/admin/support')
  await page.getByRole('link', { name: 'BOB' }).click()
  await page.getByRole('heading', { name: 'BOB' }).waitFor()
})
