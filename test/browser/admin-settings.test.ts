import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { seenBy } from '../support/chromium.ts'
import { deferred } from '../support/deferred.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

/** Keeps every save waiting until the function that it gives is called. */
async function holdSaves(page: Page): Promise<() => void> {
  const held = deferred()
  await page.route('**/wp/v2/settings', async (route) => {
    if (route.request().method() === 'POST') await held.promise
    await route.continue()
  })
  return held.resolve
}

describe('General Settings', () => {
  test('are saved by one button, in one call, which can be pressed once something has changed', async () => {
    const page = await host.open()
    const save = page.getByRole('button', { name: 'Save Changes' })
    await page.getByRole('radio', { name: 'Logout All' }).waitFor()
    await expect.poll(() => save.count()).toBe(0)
    const calls: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') calls.push(`${new URL(request.url()).pathname} ${request.postData()}`)
    })
    await page.getByLabel('Active Logins Limit').fill('3')
    expect(await save.isEnabled()).toBe(true)
    await page.getByLabel('Active Logins Limit').fill('5')
    await expect.poll(() => save.count()).toBe(0)
    await page.getByLabel('Active Logins Limit').fill('3')
    await page.getByRole('radio', { name: 'Block New' }).click()
    await save.click()
    await page.getByText('Settings saved.').first().waitFor()
    expect(calls).toEqual(['/api/wp/v2/settings {"sessmgr_settings":{"maximum":3,"logic":"block"}}'])
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 3, logic: 'block' })
    await expect.poll(() => save.count()).toBe(0)
    const { violations } = await seenBy(page)
    expect(violations).toEqual([])
  })

  test('are saved by Enter in a field', async () => {
    const page = await host.open()
    await page.getByLabel('Active Logins Limit').fill('3')
    await page.keyboard.press('Enter')
    await page.getByText('Settings saved.').first().waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 3 })
  })

  test('are saved by an Enter that follows the last digit before the page has rendered again', async () => {
    const page = await host.open()
    await page.getByLabel('Active Logins Limit').evaluate((field: HTMLInputElement) => {
      field.focus()
      field.select()
      document.execCommand('insertText', false, '3')
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
    })
    await page.getByText('Settings saved.').first().waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 3 })
  })

  test('show each mode with its description, in the order of the catalogue', async () => {
    const page = await host.open()
    const group = page.getByRole('radiogroup', { name: 'Login Logic' })
    await group.waitFor()
    const modes = Object.values(await host.limiter.modes.catalogue())
    for (const [index, { label, desc }] of modes.entries()) {
      const [name, description] = await group
        .getByRole('radio')
        .nth(index)
        .evaluate((radio) =>
          ['aria-labelledby', 'aria-describedby'].map(
            (attribute) => document.getElementById(radio.getAttribute(attribute) ?? '')?.textContent,
          ),
        )
      expect([name, description]).toEqual([label, desc])
    }
  })

  test.each([
    ['0', 'Enter a whole number, 1 or more.'],
    ['-1', 'Enter a whole number, 1 or more.'],
    ['1.5', 'Enter a whole number, 1 or more.'],
    ['', 'Enter a whole number, 1 or more.'],
    ['9999999999999999999', 'Enter a whole number from 1 to 9,007,199,254,740,991.'],
  ])('do not save a limit of "%s", and say why', async (bad, words) => {
    const page = await host.open()
    const field = page.getByLabel('Active Logins Limit')
    await field.fill(bad)
    await page.getByText(words).waitFor()
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Nothing was saved').first().waitFor()
    await expect.poll(() => field.evaluate((input) => document.activeElement === input)).toBe(true)
    expect(await field.inputValue()).toBe(bad)
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 5 })
    await page.getByRole('button', { name: 'Discard' }).click()
    await expect.poll(() => field.inputValue()).toBe('5')
  })

  test('say of a lower limit that it ends no session by itself', async () => {
    const page = await host.open()
    const words = page.getByText('Users with more sessions stay signed in.')
    await page.getByLabel('Active Logins Limit').fill('6')
    await expect.poll(() => words.count()).toBe(0)
    await page.getByLabel('Active Logins Limit').fill('4')
    await words.waitFor()
  })

  test('release idle sessions after minutes, and say what happens in Block New without that', async () => {
    const page = await host.open()
    const field = page.getByLabel('Idle Release')
    const waits = page.getByText('Anyone who closes the browser without signing out waits until the session ends.')
    await field.waitFor()
    expect([await field.inputValue(), await waits.count()]).toEqual(['0', 0])
    await page.getByRole('radio', { name: 'Block New' }).click()
    await waits.waitFor()
    await page.getByText('Yours ends 2 days after its last use.').waitFor()
    await field.fill('4')
    await page.getByText('Enter 0, or a whole number of 5 or more.').waitFor()
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Nothing was saved').first().waitFor()
    await field.fill('15')
    await expect.poll(() => waits.count()).toBe(0)
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Settings saved.').first().waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ logic: 'block', idle_release: 900 })
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe('15')
    await field.fill('0')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Settings saved.').first().waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ idle_release: 0 })
  })

  test('say in a band that the limit is not enforced, as long as that is what is saved', async () => {
    const page = await host.open()
    const band = page.getByText('Report only: nobody is refused')
    const toggle = page.getByRole('switch', { name: 'Enforce the Limit' })
    await toggle.click()
    expect([await toggle.isChecked(), await band.count()]).toEqual([false, 0])
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await band.waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ enforce: false })
    const { violations } = await seenBy(page)
    expect(violations).toEqual([])
    await toggle.click()
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await band.waitFor({ state: 'detached' })
    expect(await host.limiter.settings.get()).toMatchObject({ enforce: true })
  })

  test('keep what is edited while another edit is being saved', async () => {
    const page = await host.open()
    const release = await holdSaves(page)
    await page.getByLabel('Active Logins Limit').fill('4')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByRole('button', { name: 'Saving…' }).waitFor()
    await page.getByRole('radio', { name: 'Logout Oldest' }).click()
    release()
    await page.getByText('Settings saved.').first().waitFor()
    expect(await page.getByRole('radio', { name: 'Logout Oldest' }).isChecked()).toBe(true)
    expect(await page.getByRole('button', { name: 'Save Changes' }).isEnabled()).toBe(true)
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 4, logic: 'allow' })
  })

  test('keep what is put back to how it was while the edit is being saved', async () => {
    const page = await host.open()
    const release = await holdSaves(page)
    await page.getByLabel('Active Logins Limit').fill('4')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByRole('button', { name: 'Saving…' }).waitFor()
    await page.getByLabel('Active Logins Limit').fill('5')
    release()
    await page.getByText('Settings saved.').first().waitFor()
    await expect.poll(() => page.getByLabel('Active Logins Limit').inputValue()).toBe('5')
    expect((await host.limiter.settings.get()).maximum).toBe(4)
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await expect.poll(async () => (await host.limiter.settings.get()).maximum).toBe(5)
  })

  test('show an outline while they are loaded, say when they cannot be, and are loaded again on demand', async () => {
    const page = await (await host.signIn('admin')).newPage()
    let isDown = true
    const held = deferred()
    await page.route('**/wp/v2/settings', async (route) => {
      await held.promise
      if (isDown)
        await route.fulfill({ status: 503, json: { code: 'store_unavailable', message: 'The store is down.' } })
      else await route.continue()
    })
    await page.goto(`${host.origin}/admin/settings`)
    await page.locator('.skeleton').first().waitFor()
    held.resolve()
    await page.getByText('The store is down.').waitFor()
    isDown = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'General Settings' }).waitFor()
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
  })

  test('keep the edits when the save fails, and save them later', async () => {
    const page = await host.open()
    await page.getByLabel('Active Logins Limit').fill('2')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('The server is not responding.').first().waitFor()
    expect(await page.getByLabel('Active Logins Limit').inputValue()).toBe('2')
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Settings saved.').first().waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 2 })
  })
})

describe('leaving with unsaved edits', () => {
  test('to another tab asks: stay, discard, or save', async () => {
    const page = await host.open()
    const limit = page.getByLabel('Active Logins Limit')
    const go = (name: string) => page.getByRole('navigation').getByRole('link', { name }).click()
    await limit.fill('7')
    await go('Support')
    await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await limit.inputValue()).toBe('7')
    await go('Support')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
    await go('Settings')
    expect(await limit.inputValue()).toBe('5')
    await limit.fill('6')
    await go('Support')
    await page.getByRole('button', { name: 'Save and leave' }).click()
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 6 })
  })

  test('asks no longer once a save that was under way has come through', async () => {
    const page = await host.open()
    const release = await holdSaves(page)
    await page.getByLabel('Active Logins Limit').fill('4')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Support' }).click()
    await page.getByRole('alertdialog', { name: 'Leave without saving?' }).waitFor()
    release()
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
    await expect.poll(() => page.getByRole('alertdialog').count()).toBe(0)
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 4 })
  })

  test('by the back button asks too, and stays where it was meanwhile', async () => {
    const page = await host.open('/support')
    await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('Active Logins Limit').fill('7')
    await page.goBack()
    await page.getByRole('alertdialog').waitFor()
    expect(new URL(page.url()).pathname).toBe('/admin/settings')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/admin/support')
  })

  test('for another page makes the browser ask, and only then', async () => {
    const page = await host.open()
    const asked: string[] = []
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type())
      await dialog.dismiss()
    })
    await page.getByLabel('Active Logins Limit').fill('7')
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => asked).toEqual(['beforeunload'])
    expect(await page.getByLabel('Active Logins Limit').inputValue()).toBe('7')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => page.isClosed()).toBe(true)
    expect(asked).toHaveLength(1)
  })
})
