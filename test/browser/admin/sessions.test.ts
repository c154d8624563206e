import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { seenBy } from '../../support/chromium.ts'
import { deferred } from '../../support/deferred.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'

const host = forThisFile(() => startAdminHost())
const bare = forThisFile(() => startAdminLab())
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
  await expect.poll(() => own.count()).toBe(1)
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
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await phone.getByRole('button', { name: 'Copy' }).click()
  await page.locator('.toast').getByText('Copied.').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(record?.token.slice(0, 8))
  expect((await seenBy(page)).violations).toEqual([])
})

test('one session can be ended, and the others stay; all can be, once one has said so twice', async () => {
  await host.signIn('alice', { userAgent: PHONE })
  await host.signIn('alice', { userAgent: FIREFOX })
  await host.signIn('alice', { userAgent: FIREFOX })
  const [phone] = await host.limiter.sessions.list(2)
  const page = await host.open('/sessions?user=2')
  await page.getByRole('button', { name: 'Sign out Safari 18 on iPhone' }).click()
  await page.getByText('Signed out Safari 18 on iPhone.').first().waitFor()
  await page.getByText('2 of 5 sessions').waitFor()
  expect((await host.limiter.sessions.list(2)).map(({ token }) => token)).not.toContain(phone?.token)
  expect(host.actions).toEqual([['sessmgr_destroy_session', 2, phone?.token]])
  await page.getByRole('button', { name: 'Sign out everywhere…' }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Sign Alice out everywhere?' })
  await dialog.getByText('Alice will be signed out on 2 devices').waitFor()
  expect(await dialog.textContent()).not.toContain('yours')
  await dialog.getByRole('button', { name: 'Sign out 2' }).click()
  await page.getByText('0 of 5 sessions').waitFor()
  expect(await host.limiter.sessions.list(2)).toEqual([])
  expect(host.actions.slice(1)).toEqual([['sessmgr_destroy_all_sessions', 2]])
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
  await dialog.getByText('A login from a new browser succeeds and ends this session:').waitFor()
  for (const sentence of [
    'Alice may have 2 sessions and has 2.',
    'Login Logic: Logout Oldest.',
    'Safari on iPhone, last used',
  ]) {
    expect(await dialog.textContent()).toContain(sentence)
  }
  await expect.poll(() => dialog.getByRole('listitem').count()).toBe(1)
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Close')
  await close()
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Explain')

  const remove = host.limiter.hooks.addFilter('sessmgr_maximum', 'test', () => 3)
  await host.limiter.settings.update({ logic: 'ask', enforce: false, idle_release: 3600 })
  await page.reload()
  await explain.click()
  await dialog.getByText('A login from a new browser succeeds and ends no session.').waitFor()
  expect(await dialog.textContent()).toContain('Alice may have 3 sessions and has 2. This number comes from')
  await close()
  remove()
  await page.reload()
  await explain.click()
  await dialog.getByText('At a login from a new browser, the user has to choose a session to end.').waitFor()
  expect(await dialog.textContent()).toContain('Report only: this is what would happen')
  expect(await dialog.textContent()).toMatch(/There will be room at .*:.* if the sessions stay unused/)
  expect((await seenBy(page)).violations).toEqual([])
  expect([host.actions, (await host.limiter.sessions.list(2)).length]).toEqual([[], 2])
})

test('several sessions end at once; the own one ends only after a warning, and the screen says so', async () => {
  await host.signIn('admin', { userAgent: PHONE })
  const page = await host.open('/sessions?user=admin')
  await host.limiter.settings.update({ maximum: 1 })
  await page.reload()
  await page.getByText(/^2 sessions, over the limit of 1$/).waitFor()
  await page.getByRole('checkbox', { name: 'Select all' }).click()
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Sign out 2…' }).click()
  await page.getByRole('alertdialog').getByText('You are using one of them now.').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Sign out everywhere else…' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('1 of 1 session').waitFor()
  await expect.poll(() => rows(page).filter({ hasText: 'This is you' }).count()).toBe(1)

  await page.getByRole('button', { name: 'Sign out Chrome' }).press('Enter')
  await page.getByRole('alertdialog', { name: 'Sign yourself out?' }).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect(await host.limiter.sessions.list(1)).toHaveLength(1)
  await page.getByRole('button', { name: 'Sign out Chrome' }).press('Enter')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You have been signed out').waitFor()
  await expect.poll(() => page.locator('.toast').count()).toBe(0)
  expect(await host.limiter.sessions.list(1)).toHaveLength(0)
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

test('a person is searched: by a part of the name, the address, the login, and among the closest names', async () => {
  const page = await host.open('/sessions')
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('ali')
  await page.getByRole('option', { name: /^Alice/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  expect(await search(page).getAttribute('aria-activedescendant')).toBeTruthy()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Alice' }).waitFor()
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await keys.getByText('Space').waitFor()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await page.goBack()
  await expect.poll(() => search(page).evaluate((field) => field === document.activeElement)).toBe(true)
  // Enter opens the only user found.
  await search(page).fill('alice@')
  await page.getByRole('option', { name: /^Alice/ }).waitFor()
  await search(page).press('Enter')
  await page.getByRole('heading', { name: 'Alice' }).waitFor()
  const look = async (name: string, words: string) => {
    await search(page).fill(name)
    await search(page).press('Enter')
    await page.getByText(words).waitFor()
  }
  await page.goBack()
  await look('203.0.113.1', 'Nobody is signed in from 203.0.113.1.')
  await page.goto(`${host.origin}/admin/sessions?user=caro`)
  await page.getByText('Nobody is called “caro”.').waitFor()
  await page.getByRole('link', { name: 'Carol' }).waitFor()
  await look('nobody', 'Try the e-mail address.')
  await page.route('**/sessmgr/v1/sessions?*', (route) => route.abort())
  await look('carol', 'The server is not responding.')
  await page.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Carol' }).waitFor()
  expect(new URL(page.url()).search).toBe('?user=carol')
  expect(await page.title()).toBe('Carol – Sessions – Session Manager')
  await page.goBack()
  await page.getByText('Nobody is called “nobody”.').waitFor()
  expect(await page.title()).toBe('Sessions – Session Manager')
})

test('offline, the lists say so at once and sign nobody out; online, they are read again at once', async () => {
  const page = await host.open('/sessions?user=admin')
  await page.getByRole('button', { name: 'Live' }).waitFor()
  await page.context().setOffline(true)
  await page.getByText('You are offline.').waitFor()
  const end = page.getByRole('button', { name: 'Sign out Chrome' })
  expect(await end.getAttribute('aria-disabled')).toBe('true')
  const read = page.waitForRequest('**/sessmgr/v1/sessions?*')
  await page.context().setOffline(false)
  await Promise.all([read, page.getByRole('button', { name: 'Live' }).waitFor()])
  expect(await end.getAttribute('aria-disabled')).toBeNull()
})

test('everybody who is signed in is listed with figures, and a person is opened and signed out by keys', async () => {
  await host.signIn('alice', { userAgent: PHONE })
  await host.signIn('alice', { userAgent: FIREFOX })
  const page = await host.open('')
  await expect.poll(() => page.locator('.figures').textContent()).toContain('People signed in2')
  expect(await page.locator('.figures').textContent()).toContain('Used in the last 15 minutes2')
  const alice = rows(page).filter({ hasText: 'Alice' })
  await alice.getByText('2 of 5').waitFor()
  expect(await alice.getByRole('meter').getAttribute('aria-valuetext')).toBe('2 of 5')
  expect(await alice.textContent()).toContain('1 computer, 1 phone')
  const heights = await rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  expect(Math.max(...heights)).toBeLessThanOrEqual(62)
  await page.screenshot({ path: `${PICTURES}admin-people.png` })
  // The whole row is a target for the mouse.
  await alice.locator('.cell-devices').click()
  await page.getByRole('heading', { name: 'Alice' }).waitFor()
  await page.goBack()
  await alice.waitFor()

  await rows(page).first().focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Home')
  await expect.poll(() => page.evaluate(() => document.activeElement?.matches('tr:first-child'))).toBe(true)
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
  await page.getByText('turn on the “directory” option').waitFor()
  expect(await search(page).getAttribute('placeholder')).toBe('Exact login, e-mail or id')
  expect(await page.getByRole('link', { name: 'Documentation' }).getAttribute('href')).toBe('/admin/support')
  await page.getByRole('link', { name: 'BOB' }).click()
  await page.getByRole('heading', { name: 'BOB' }).waitFor()
})

describe('Force Logout', () => {
  const field = (page: Page) => page.getByLabel('User', { exact: true })
  const button = (page: Page) => page.getByRole('button', { name: 'Force Logout', exact: true })
  const ask = async (page: Page, name: string) => {
    await field(page).fill(name)
    await field(page).press('Enter')
  }

  test('asks, names the user and the sessions, signs them out by login, id or address, and says what is wrong', async () => {
    const page = await host.open('/settings?part=force')
    await button(page).waitFor()
    for (const empty of ['', '   ']) {
      await field(page).fill(empty)
      expect(await button(page).isDisabled()).toBe(true)
    }
    for (const name of ['alice', '2', 'ALICE@example.test']) {
      await host.signIn('alice')
      host.actions.length = 0
      await ask(page, name)
      const dialog = page.getByRole('alertdialog', { name: 'Sign Alice out everywhere?' })
      await dialog.getByText('Alice will be signed out on one device').waitFor()
      expect(await dialog.textContent()).not.toContain('yours')
      expect(await host.limiter.sessions.list(2)).toHaveLength(1)
      await dialog.getByRole('button', { name: 'Sign out' }).click()
      await expect.poll(() => host.limiter.sessions.list(2)).toEqual([])
      await page.getByText('Alice is signed out everywhere.').first().waitFor()
      await expect.poll(() => field(page).inputValue()).toBe('')
      expect(host.actions, name).toEqual([['sessmgr_destroy_all_sessions', 2]])
    }
    await ask(page, 'carol')
    await page.getByText('Carol was not signed in anywhere.').first().waitFor()
    expect(await page.getByRole('alertdialog').count()).toBe(0)
    await ask(page, 'nobody')
    await page.getByText('This user does not exist.').waitFor()
    expect(await field(page).inputValue()).toBe('nobody')

    await host.signIn('bob')
    let calls = 0
    const held = deferred()
    await page.route('**/sessions/destroy', async (route) => {
      calls += 1
      await held.promise
      await route.continue()
    })
    await ask(page, 'bob')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Signing out…' }).click({ force: true })
    await field(page).press('Enter')
    held.resolve()
    await page.getByText('Bob is signed out everywhere.').first().waitFor()
    expect(calls).toBe(1)
  })

  test('of oneself says that one session is the own, with Cancel first; nothing ends before', async () => {
    await host.signIn('admin')
    const page = await host.open('/settings?part=force')
    await ask(page, 'admin')
    const dialog = page.getByRole('alertdialog', { name: 'Sign Admin out everywhere?' })
    await dialog.getByText('Admin will be signed out on 2 devices').waitFor()
    await dialog.getByText('One of them is yours').waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await host.limiter.sessions.list(1)).toHaveLength(2)
    expect([host.actions, await field(page).inputValue()]).toEqual([[], 'admin'])
    await field(page).press('Enter')
    await dialog.getByRole('button', { name: 'Sign out 2' }).click()
    await page.getByText('You have been signed out').waitFor()
  })

  test('of everybody asks first, and leaves this session alone', async () => {
    const others = [await host.signIn('alice'), await host.signIn('admin')]
    const page = await host.open('/settings?part=force')
    await page.getByRole('button', { name: 'Logout All Users' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Sign everyone out?' })
    await dialog.getByText('You will stay signed in here').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect([host.actions, (await host.limiter.sessions.list(2)).length]).toEqual([[], 1])
    await page.getByRole('button', { name: 'Logout All Users' }).click()
    await dialog.getByRole('button', { name: 'Logout All Users' }).click()
    await page.getByText('Everyone has been signed out. You stay signed in here.').first().waitFor()
    expect(host.actions.map(([name]) => name)).toEqual(['sessmgr_logout_all_users'])
    for (const other of others) expect((await other.request.get(`${host.origin}/me`)).status()).toBe(401)
    await page.getByLabel('Active Logins Limit').fill('8')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Settings saved.').first().waitFor()
  })
})
