import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

const limit = (page: Page) => page.getByLabel('Active Logins Limit')
const save = (page: Page) => page.getByRole('button', { name: 'Save Changes' })
const stored = () => host.limiter.settings.get()
const dialogOf = (page: Page) => page.getByRole('alertdialog', { name: 'Another user has changed this' })

/** The screen with an edit of the limit, which somebody else has set to 42 meanwhile. */
async function openConflict(): Promise<Page> {
  const page = await host.open()
  await limit(page).fill('7')
  await host.limiter.settings.update({ maximum: 42 })
  await save(page).click()
  await dialogOf(page).getByText('Active Logins Limit, 5 → 42. Yours: 7.').waitFor()
  expect((await stored()).maximum).toBe(42)
  return page
}

describe('a value that somebody else has changed meanwhile', () => {
  test('is asked about before it is overwritten, and can be overwritten', async () => {
    const page = await openConflict()
    await page.screenshot({ path: `${PICTURES}admin-save-conflict.png` })
    await page.getByRole('button', { name: 'Save mine' }).click()
    await page.getByText('Settings saved.').first().waitFor()
    expect((await stored()).maximum).toBe(7)
    expect(await limit(page).inputValue()).toBe('7')
  })

  test('can be kept; the other edits are saved all the same', async () => {
    const page = await host.open()
    await limit(page).fill('7')
    await page.getByRole('radio', { name: 'Block New' }).click()
    await host.limiter.settings.update({ maximum: 42 })
    await save(page).click()
    await dialogOf(page).getByRole('button', { name: 'Use theirs' }).click()
    await page.getByText('Settings saved.').first().waitFor()
    expect(await stored()).toMatchObject({ maximum: 42, logic: 'block' })
    await expect.poll(() => limit(page).inputValue()).toBe('42')
  })

  test('stays as it is when the question is closed, and is asked about again', async () => {
    const page = await openConflict()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    expect(await limit(page).inputValue()).toBe('7')
    expect((await stored()).maximum).toBe(42)
    await save(page).click()
    await dialogOf(page).waitFor()
  })

  test('is asked about again where it has changed once more', async () => {
    const page = await openConflict()
    await host.limiter.settings.update({ maximum: 50 })
    await page.getByRole('button', { name: 'Save mine' }).click()
    await dialogOf(page).getByText('Active Logins Limit, 42 → 50. Yours: 7.').waitFor()
    expect((await stored()).maximum).toBe(50)
  })
})

test('another value that somebody else has changed is saved over nothing, told, and marked for ten seconds', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  await page.goto(`${host.origin}/admin/settings`)
  await limit(page).fill('7')
  await host.limiter.settings.update({ logic: 'block' })
  await save(page).click()
  await page.getByText('Saved. Another user has changed Login Logic to Block New.').first().waitFor()
  expect(await stored()).toMatchObject({ maximum: 7, logic: 'block' })
  expect(await page.getByRole('radio', { name: 'Block New' }).isChecked()).toBe(true)
  await page.locator('.field.changed').getByText('Login Logic').waitFor()
  await expect.poll(() => page.locator('.changed').count()).toBe(1)
  await page.screenshot({ path: `${PICTURES}admin-save-told.png` })
  await page.clock.runFor(11_000)
  await page.locator('.changed').waitFor({ state: 'detached' })
})

test('what one sees when the edit begins is what it is measured against, also when the window comes back', async () => {
  const page = await host.open()
  await limit(page).fill('7')
  await host.limiter.settings.update({ maximum: 42 })
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
  await save(page).click()
  await dialogOf(page).getByText('Active Logins Limit, 5 → 42. Yours: 7.').waitFor()
})

describe('a save that fails', () => {
  test('leaves its trace in the bar until the next try', async () => {
    const page = await (await host.signIn('admin')).newPage()
    await page.clock.install()
    await page.goto(`${host.origin}/admin/settings`)
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
    await save(page).click()
    await page.getByText('Settings saved.').first().waitFor()
    await expect.poll(() => bar.getByText('Not saved').count()).toBe(0)
  })

  test('and one that succeeds do not lose the focus', async () => {
    const page = await host.open()
    await limit(page).fill('2')
    await save(page).press('Enter')
    await page.getByText('Settings saved.').first().waitFor()
    // The bar is gone, and the keyboard stays in the content.
    await expect.poll(() => save(page).count()).toBe(0)
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content')
  })
})
