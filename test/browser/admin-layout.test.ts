import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())

async function boxOf(part: Locator) {
  const box = await part.boundingBox()
  if (!box) throw new Error('It is not on the page.')
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}

const leftOf = async (page: Page, selector: string) => (await boxOf(page.locator(selector).first())).x

test('the product name and the content of every tab begin at the same edge', async () => {
  const page = await host.open('/settings')
  for (const tab of ['settings', 'sessions', 'support']) {
    await page.goto(`${host.origin}/admin/${tab}`)
    await page.locator(':is(.panel:not(.skeleton), .list-head)').first().waitFor()
    expect(await leftOf(page, ':is(.settings, .list-head, main > .stack)'), tab).toBe(await leftOf(page, '.brand-mark'))
  }
  await page.goto(`${host.origin}/admin/settings`)
  await page.getByLabel('Active Logins Limit').fill('7')
  await page.screenshot({ path: `${PICTURES}admin-layout-settings.png` })
  const [bar, panel] = [await boxOf(page.locator('.save-bar')), await boxOf(page.locator('.settings'))]
  expect([bar.x - panel.x, bar.right - panel.right]).toEqual([-12, 12])
})

test('a shade at the edge of the tabs shows that there are more', async () => {
  const page = await host.open('/sessions', { viewport: { width: 360, height: 740 } })
  await page.getByRole('link', { name: 'Support' }).waitFor()
  await page.getByRole('heading', { name: 'Sessions', exact: true, level: 2 }).waitFor()
  const strip = page.locator('.tabs')
  const { x, y, right } = await boxOf(strip)
  /** What is drawn above the words, at the edges. */
  const edges = async () => {
    const shot = async (left: number) =>
      (await page.screenshot({ clip: { x: left, y: y + 1, width: 3, height: 4 } })).toString('base64')
    return [await shot(x), await shot(right - 3)]
  }
  const [plain, shade] = await edges()
  expect(shade).not.toBe(plain)
  await page.screenshot({ path: `${PICTURES}admin-layout-tabs.png`, clip: { x: 0, y: 0, width: 360, height: 160 } })
  await strip.evaluate((element) => element.scrollTo(element.scrollWidth, 0))
  const [shadeBefore, plainAfter] = await edges()
  expect(plainAfter).toBe(plain)
  expect(shadeBefore).not.toBe(plain)
})

test('no toast lies over the control that it is about', async () => {
  const page = await host.open('/settings?part=force', { viewport: { width: 768, height: 300 } })
  const button = page.getByRole('button', { name: 'Force Logout', exact: true })
  await page.getByLabel('User', { exact: true }).fill('carol')
  // The button is then where toasts usually are.
  await button.evaluate((element) => window.scrollBy(0, element.getBoundingClientRect().bottom - innerHeight + 24))
  await button.click()
  const toast = page.locator('.toast')
  await toast.getByText('Carol was not signed in anywhere.').waitFor()
  await page.screenshot({ path: `${PICTURES}admin-layout-toast.png` })
  expect((await boxOf(toast)).bottom).toBeLessThan((await boxOf(button)).y)
})

test('three answers stand on one line, and a missing tab offers the first one below its text', async () => {
  const page = await host.open('/settings')
  await page.getByLabel('Active Logins Limit').fill('7')
  await page.getByRole('link', { name: 'Support' }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.waitFor()
  await page.screenshot({ path: `${PICTURES}admin-layout-leave.png` })
  const tops = await dialog.getByRole('button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
  expect([tops.length, new Set(tops).size]).toEqual([3, 1])
  await dialog.getByRole('button', { name: 'Discard changes' }).click()
  await page.goto(`${host.origin}/admin/gone`)
  const text = await boxOf(page.getByText('It may belong to an add-on that is no longer active.'))
  expect((await boxOf(page.getByRole('button', { name: 'Go to Sessions' }))).y).toBeGreaterThanOrEqual(text.bottom)
  await page.screenshot({ path: `${PICTURES}admin-layout-no-tab.png` })
})

test('on a narrow screen, the bar of the selected sessions has all its buttons, and no row is drawn over it', async () => {
  for (const _ of [1, 2, 3]) await host.signIn('bob')
  const page = await host.open('/sessions?user=bob', { viewport: { width: 320, height: 560 } })
  await page.getByRole('checkbox', { name: 'Select all' }).check()
  const bar = page.locator('.table-bar.chosen > div')
  await bar.getByText('3 selected').waitFor()
  const { x, y, right, bottom } = await boxOf(bar)
  for (const button of await bar.getByRole('button').all()) {
    const box = await boxOf(button)
    expect([box.x > x, box.y > y, box.right < right, box.bottom < bottom]).toEqual([true, true, true, true])
  }
  // The row that is partly behind the bar.
  const row = page.locator('tbody tr').nth(1)
  await row.evaluate((element, top) => window.scrollBy(0, element.getBoundingClientRect().top - top), y - 30)
  const isCovered = await bar.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    for (let down = 2; down < height; down += 4) {
      for (let across = 2; across < width; across += 4) {
        if (!element.contains(document.elementFromPoint(left + across, top + down))) return true
      }
    }
    return false
  })
  expect(isCovered).toBe(false)
  await page.screenshot({ path: `${PICTURES}admin-layout-bulk.png` })
})

test('on a narrow screen, no filter and no part of the settings is cut off', async () => {
  const page = await host.open('/sessions', { viewport: { width: 360, height: 800 } })
  const boxes = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((element) => element.getBoundingClientRect().toJSON()))
  await page.getByRole('button', { name: 'Live' }).waitFor()
  const filters = await boxes('.search-line select')
  expect(filters.length).toBe(2)
  for (const { width } of filters) expect(width).toBeGreaterThanOrEqual(100)
  await page.goto(`${host.origin}/admin/settings?part=force`)
  await page.getByRole('link', { name: 'Force Logout' }).waitFor()
  for (const { right } of await boxes('.parts a')) expect(right).toBeLessThanOrEqual(360)
})
