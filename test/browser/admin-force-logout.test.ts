import { beforeEach, describe, expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { deferred } from '../support/deferred.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

describe('Force Logout', () => {
  test.each(['alice', '2', 'ALICE@example.test'])('signs out the user "%s" and names them', async (name) => {
    await host.signIn('alice')
    const page = await host.open('/settings?part=force')
    const button = page.getByRole('button', { name: 'Force Logout', exact: true })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    await page.getByLabel('User', { exact: true }).fill('   ')
    expect(await button.isDisabled()).toBe(true)
    await page.getByLabel('User', { exact: true }).fill(name)
    await button.click()
    const dialog = page.getByRole('alertdialog', { name: 'Sign Alice out everywhere?' })
    await dialog.getByText('Alice will be signed out on one device').waitFor()
    expect(await dialog.textContent()).not.toContain('yours')
    expect(await host.limiter.sessions.list(2)).toHaveLength(1)
    await dialog.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('Alice is signed out everywhere.').first().waitFor()
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('')
    expect(await host.limiter.sessions.list(2)).toEqual([])
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
  })

  test('is asked about by Enter, with the number of sessions and whether one is the own; nothing ends before', async () => {
    await host.signIn('admin')
    const page = await host.open('/settings?part=force')
    const field = page.getByLabel('User', { exact: true })
    await field.fill('admin')
    await field.press('Enter')
    const dialog = page.getByRole('alertdialog', { name: 'Sign Admin out everywhere?' })
    await dialog.getByText('Admin will be signed out on 2 devices').waitFor()
    await dialog.getByText('One of them is yours').waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await host.limiter.sessions.list(1)).toHaveLength(2)
    expect(host.actions).toEqual([])
    expect(await field.inputValue()).toBe('admin')
    await field.press('Enter')
    await dialog.getByRole('button', { name: 'Sign out 2' }).click()
    await page.getByText('You have been signed out').waitFor()
  })

  test('says so where the user was not signed in anywhere', async () => {
    const page = await host.open('/settings?part=force')
    await page.getByLabel('User', { exact: true }).fill('carol')
    await page.getByRole('button', { name: 'Force Logout', exact: true }).click()
    await page.getByText('Carol was not signed in anywhere.').first().waitFor()
    await expect.poll(() => page.getByRole('alertdialog').count()).toBe(0)
  })

  test('is busy while it works, and takes no second click', async () => {
    await host.signIn('bob')
    const page = await host.open('/settings?part=force')
    let calls = 0
    const held = deferred()
    await page.route('**/sessions/destroy', async (route) => {
      calls += 1
      await held.promise
      await route.continue()
    })
    await page.getByLabel('User', { exact: true }).fill('bob')
    await page.getByLabel('User', { exact: true }).press('Enter')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
    const busy = page.getByRole('button', { name: 'Signing out…' })
    await busy.click({ force: true })
    await page.getByLabel('User', { exact: true }).press('Enter')
    held.resolve()
    await page.getByText('Bob is signed out everywhere.').first().waitFor()
    expect(calls).toBe(1)
  })

  test('says in the server’s words what is wrong, and keeps what was typed', async () => {
    const page = await host.open('/settings?part=force')
    await page.getByLabel('User', { exact: true }).fill('nobody')
    await page.getByRole('button', { name: 'Force Logout', exact: true }).click()
    await page.getByText('This user does not exist.').waitFor()
    expect(await page.getByLabel('User', { exact: true }).inputValue()).toBe('nobody')
  })
})

describe('Logout All Users', () => {
  test('asks first, says what happens to the own session, and can be called off', async () => {
    await host.signIn('alice')
    const page = await host.open('/settings?part=force')
    await page.getByRole('button', { name: 'Logout All Users' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Sign everyone out?' })
    await dialog.getByText('You will stay signed in here').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(host.actions).toEqual([])
    expect(await host.limiter.sessions.list(2)).toHaveLength(1)
  })

  test('signs everybody out but this session', async () => {
    const alice = await host.signIn('alice')
    const elsewhere = await host.signIn('admin')
    const page = await host.open('/settings?part=force')
    await page.getByRole('button', { name: 'Logout All Users' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Logout All Users' }).click()
    await page.getByText('Everyone has been signed out. You stay signed in here.').first().waitFor()
    expect(host.actions.map(([name]) => name)).toEqual(['sessmgr_logout_all_users'])
    expect((await alice.request.get(`${host.origin}/me`)).status()).toBe(401)
    expect((await elsewhere.request.get(`${host.origin}/me`)).status()).toBe(401)
    expect((await page.request.get(`${host.origin}/me`)).status()).toBe(200)
    await page.getByLabel('Active Logins Limit').fill('8')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Settings saved.').first().waitFor()
  })
})
