import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { addonsLab, installFirst } from '../../support/admin-addons.ts'
import { startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { seenBy } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'
import { AGENTS } from '../../support/user-agents.ts'

const PHONE = AGENTS.iphone

// Without the demo vendor of the example, for the page of a site that has no add-ons.
const host = forThisFile(() => startAdminHost({ env: { ADDON_ROLE_LIMITS: 'none' } }))
const { vendor, options } = addonsLab()
const shop = forThisFile(() => startAdminLab(options))
beforeAll(async () => {
  installFirst(shop.limiter)
  await shop.limiter.addons.activate(11, await vendor.issue(11))
  await shop.limiter.settings.update({ logic: 'block', enforce: false })
  await host.signIn('admin', { userAgent: PHONE })
})

type Step = readonly [name: string, ready: string, act?: (page: Page) => Promise<unknown>]
const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).click()

/** Pages, each with what is to be seen on it and what can be done from there on. */
const HOST_VIEWS: readonly (readonly [path: string, ...steps: Step[]])[] = [
  [
    '/settings',
    ['settings', 'General Settings'],
    ['settings-edited', 'Active Logins Limit', (page) => page.getByLabel('Active Logins Limit').fill('0')],
    ['logout-all', 'Sign everyone out?', press('Logout All Users')],
  ],
  ['/sessions', ['people', 'Live']],
  ['/sessions?user=admin', ['sessions', 'This is you'], ['explain', 'A login from a new browser', press('Explain')]],
  ['/sessions?user=nobody', ['sessions-failed', 'Nobody is called “nobody”.']],
  ['/comments', ['comments', 'Loading behavior']],
  ['/support', ['support', 'Change it first', (page) => page.locator('summary', { hasText: 'leaked' }).click()]],
]
const SHOP_VIEWS: typeof HOST_VIEWS = [
  ['/settings', ['settings-report-only', 'Report only: nobody is refused']],
  [
    '/addons',
    ['addons', 'Limits per role'],
    ['license', 'Deactivate…', press(/^Manage License/)],
    ['license-ask', 'Deactivate Limits per role on this site?', press('Deactivate…')],
  ],
]

test.each([
  ['the example', HOST_VIEWS, host, () => host.signIn('admin')],
  ['a shop', SHOP_VIEWS, shop, () => shop.visitor(host.chromium, 'admin')],
])(
  'in %s, axe finds nothing, and phones, tablets and desktops fit, light and dark',
  async (_name, views, { origin }, enter) => {
    const page = await (await enter()).newPage()
    await page.emulateMedia({ reducedMotion: 'reduce' })
    for (const [path, ...steps] of views) {
      await page.goto(`${origin}/admin${path}`)
      for (const [name, ready, act] of steps) {
        await act?.(page)
        await page.getByText(ready).first().waitFor()
        await seenBy(page)
        expect(await faultsOf(page, `admin-${name}`), name).toEqual([])
      }
    }
    await page.close()
  },
)

test('the page for whoever may not be here has nothing that axe finds', async () => {
  const page = await (await host.signIn('alice')).newPage()
  const response = await page.goto(`${host.origin}/admin`)
  expect(response?.status()).toBe(403)
  expect(await faultsOf(page, 'admin-forbidden')).toEqual([])
  expect((await seenBy(page)).violations).toEqual([])
})

test('what is chosen is to be seen in colours that the person has chosen, too', async () => {
  const page = await host.open('/comments', { forcedColors: 'active' })
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  const first = page.locator('.switch').first()
  await first.press('Space')
  await first.evaluate((element: HTMLElement) => element.blur())
  const looks = (selector: string) => page.locator(selector).first().screenshot()
  for (const kind of ['.radio', '.switch']) {
    expect((await looks(`${kind}:checked`)).equals(await looks(`${kind}:not(:checked)`)), kind).toBe(false)
  }
  const underline = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).borderBottomColor)
  expect(await underline('.tabs a[aria-current]')).not.toBe(await underline('.tabs a:not([aria-current])'))
})

describe('with the keyboard alone', () => {
  const focused = (page: Page) =>
    page.evaluate(() => {
      const { activeElement: element } = document
      return element?.getAttribute('aria-label') ?? element?.textContent?.trim().slice(0, 40)
    })
  async function tabTo(page: Page, name: string): Promise<void> {
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(hasName, name)) return
    }
    throw new Error(`Tab never came to "${name}".`)
  }
  function hasName(name: string): boolean {
    const element = document.activeElement as HTMLInputElement | null
    const label = element?.labels?.[0]?.textContent ?? element?.getAttribute('aria-label') ?? element?.textContent
    return label?.trim().startsWith(name) === true
  }

  test('every part can be reached, used and left; the focus is always to be seen', async () => {
    const page = await host.open()
    await page.getByRole('heading', { name: 'General Settings' }).waitFor()
    await page.keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content')

    await tabTo(page, 'Active Logins Limit')
    await page.keyboard.type('6')
    expect(await page.getByLabel('Active Logins Limit').inputValue()).toBe('6')
    await page.keyboard.press('Tab')
    // A finger stays on a key for a while: the choice follows the focus, and the focus moves only a moment later.
    await page.keyboard.down('ArrowDown')
    await expect.poll(() => page.getByRole('radio', { name: 'Block New' }).isChecked()).toBe(true)
    await page.keyboard.up('ArrowDown')
    await tabTo(page, 'Save Changes')
    await page.keyboard.press('Enter')
    await page.getByText('Settings saved.').first().waitFor()
    expect(await host.limiter.settings.get()).toMatchObject({ maximum: 6, logic: 'block' })

    await page.reload()
    await page.getByRole('heading', { name: 'General Settings' }).waitFor()
    await tabTo(page, 'Force Logout')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Logout All Users')
    await page.keyboard.press('Enter')
    await page.getByRole('alertdialog').waitFor()
    await expect.poll(() => focused(page)).toBe('Cancel')
    for (let presses = 0; presses < 3; presses++) {
      await page.keyboard.press('Tab')
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.closest('[role=alertdialog]') !== null))
        .toBe(true)
    }
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe('Logout All Users')

    await page.keyboard.press('Shift+Tab')
    for (let presses = 0; presses < 30 && (await focused(page)) !== 'Sessions'; presses++)
      await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Refresh' }).waitFor()
    await tabTo(page, 'Find a user')
    await page.keyboard.type('admin')
    await page.keyboard.press('Enter')
    await page.getByText('This is you').waitFor()
    await tabTo(page, 'Sign out Chrome')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
    expect(outline).toBe('solid')
  })

  test('the comments, the add-ons with their dialog, and the answers too', async () => {
    const page = await host.open('/comments')
    await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
    await tabTo(page, 'Show loading spinner')
    await page.keyboard.press('Space')
    await tabTo(page, 'Clear comments cache')
    await page.keyboard.press('Enter')
    await page.getByText('The comments cache has been cleared.').first().waitFor()
    await tabTo(page, 'Save Changes')
    await page.keyboard.press('Enter')
    await page.getByText('Settings saved.').first().waitFor()
    expect(await host.limiter.comments?.settings.all()).toMatchObject({ show_loader: false })

    await page.goto(`${host.origin}/admin/support`)
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
    await tabTo(page, 'A password has leaked')
    await page.keyboard.press('Enter')
    await page.getByText('Change it first').waitFor()

    const addons = await shop.open(host.chromium, '/addons')
    await addons.getByRole('heading', { name: 'Limits per role' }).waitFor()
    await tabTo(addons, 'Manage License: Limits per role')
    await addons.keyboard.press('Enter')
    await addons.getByRole('dialog', { name: 'Manage license — Limits per role' }).waitFor()
    await tabTo(addons, 'Deactivate')
    await addons.keyboard.press('Escape')
    await addons.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => focused(addons)).toBe('Manage License: Limits per role')
    expect(await shop.limiter.addons.isLicensed(11)).toBe(true)
  })
})
