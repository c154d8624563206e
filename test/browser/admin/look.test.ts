import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { seenBy, startChromium, watch } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
const arabic = forThisFile(() => startAdminLab({ sessmgr: { texts: { lang: 'ar', dir: 'rtl' } } }))
// The direction need not be that of the language.
const mirrored = forThisFile(() => startAdminLab({ sessmgr: { texts: { dir: 'rtl' } } }))

const desktop = forThisFile(() => startChromium({ hasScrollBars: true }))

/** A page of an administrator, in a browser whose scroll bars take room. */
async function onDesktop(): Promise<Page> {
  const context = await desktop.visitor({ viewport: { width: 1280, height: 500 } })
  await watch(context)
  await context.addCookies(await (await host.signIn('admin')).cookies())
  return context.newPage()
}

const limit = (page: Page) => page.getByLabel('Active Logins Limit')
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

async function boxOf(part: Locator) {
  const box = await part.boundingBox()
  if (!box) throw new Error('It is not on the page.')
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}

test('on a narrow screen, no filter and no part of the settings is cut off', async () => {
  const page = await host.open('/sessions', { viewport: { width: 360, height: 740 } })
  await page.getByRole('button', { name: 'Live' }).waitFor()
  const boxes = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((element) => element.getBoundingClientRect().toJSON()))
  const filters = await boxes('.search-line select')
  expect(filters.length).toBe(2)
  for (const { width } of filters) expect(width).toBeGreaterThanOrEqual(100)
  await page.goto(`${host.origin}/admin/settings?part=force`)
  await page.getByRole('link', { name: 'Force Logout' }).waitFor()
  for (const part of await boxes('.parts a')) expect(part.right).toBeLessThanOrEqual(360)
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
})

test('long login names and email addresses are readable as a whole', async () => {
  const page = await (await host.signIn('admin', { viewport: { width: 360, height: 740 } })).newPage()
  const [login, email] = ['long-login-name'.repeat(6), `${'an-address-'.repeat(9)}@example.test`]
  await page.route(/\/v1\/people\?/, async (route) => {
    const response = await route.fetch()
    if (response.status() !== 200) return route.fulfill({ response })
    const answer = await response.json()
    for (const { user } of answer.people) Object.assign(user, { login, email })
    await route.fulfill({ response, json: answer })
  })
  await page.goto(`${host.origin}/admin/sessions`)
  const names = page.getByText(email).first().locator('..')
  await names.waitFor()
  expect(await names.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true)
  expect(await names.evaluate((element) => getComputedStyle(element).whiteSpace)).toBe('normal')
})

/** How much of the element in focus the save bar covers, in pixels; undefined outside the content. */
function covered(): { name: string; hidden: number } | undefined {
  const element = document.activeElement
  const bar = document.querySelector('.save-bar')
  if (!bar || !element?.closest('main > :not(.save-bar)')) return undefined
  const [box, over] = [element.getBoundingClientRect(), bar.getBoundingClientRect()]
  const hidden = Math.min(box.bottom, over.bottom) - Math.max(box.top, over.top)
  const isBeside = box.right <= over.left || box.left >= over.right
  const name = element.id || element.textContent || element.tagName
  return { name, hidden: isBeside || hidden <= 0 ? 0 : hidden }
}

test('no field that takes the focus, or is edited, is under the save bar', async () => {
  const page = await host.open('/comments', { viewport: { width: 360, height: 740 } })
  const toggles = page.getByRole('switch')
  await toggles.first().waitFor()
  for (const [index, toggle] of (await toggles.all()).entries()) {
    await toggle.evaluate((element) => window.scrollBy(0, element.getBoundingClientRect().bottom - innerHeight + 8))
    await toggle.press('Space')
    await page.locator('.save-bar').waitFor()
    await expect.poll(() => page.evaluate(covered), { message: `switch ${index}` }).toMatchObject({ hidden: 0 })
    await page.getByRole('button', { name: 'Discard' }).click()
  }
  for (const [width, path, way] of [
    [360, '/settings', 'Tab'],
    [360, '/settings', 'Shift+Tab'],
    [360, '/comments', 'Tab'],
    [360, '/comments', 'Shift+Tab'],
    [1280, '/settings', 'Tab'],
    [1280, '/comments', 'Shift+Tab'],
  ] as const) {
    await page.setViewportSize({ width, height: 740 })
    await page.goto(`${host.origin}/admin${path}`)
    if (path === '/settings') await limit(page).fill('77')
    else await page.getByRole('radio', { name: 'On button click' }).press('Space')
    await page.locator('.save-bar').waitFor()
    if (way === 'Shift+Tab') await page.getByRole('button', { name: 'Discard' }).focus()
    let seen = 0
    for (let presses = 0; presses < 25; presses++) {
      await page.keyboard.press(way)
      const here = await page.evaluate(covered)
      if (!here) continue
      seen += 1
      const hidden = async () => (await page.evaluate(covered))?.hidden
      if (here.hidden > 0) await expect.poll(hidden, { message: `${width} ${path}, ${way}: ${here.name}` }).toBe(0)
    }
    expect(seen).toBeGreaterThan(4)
  }
})

test('a question takes the focus and keeps it; behind it nothing moves, scrolls, is used or answers', async () => {
  const page = await onDesktop()
  await page.goto(`${host.origin}/admin/settings?part=force`)
  const opener = page.getByRole('button', { name: 'Logout All Users' })
  await opener.scrollIntoViewIfNeeded()
  const place = () => page.evaluate(() => [scrollY, document.querySelector('main')?.getBoundingClientRect().x])
  const before = await place()
  await opener.click()
  const dialog = page.getByRole('alertdialog', { name: 'Sign everyone out?' })
  await dialog.waitFor()
  expect(await place()).toEqual(before)
  await expect.poll(() => focused(page)).toBe('Cancel')
  for (const [key, name] of [
    ['Tab', 'Logout All Users'],
    ['Tab', 'Cancel'],
    ['Shift+Tab', 'Logout All Users'],
  ] as const) {
    await page.keyboard.press(key)
    await expect.poll(() => focused(page)).toBe(name)
  }
  expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  for (const [x, y] of [
    [640, 250],
    [20, 20],
  ] as const) {
    await page.mouse.move(x, y)
    await page.mouse.wheel(0, -300)
  }
  await page.keyboard.press('PageUp')
  await page.mouse.click(20, 20)
  const field = page.getByLabel('User', { exact: true })
  await field.evaluate((input) => input.focus())
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(false)
  // Drawn twice, a scroll that has begun would have shown.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  expect([await place(), await dialog.isVisible()]).toEqual([before, true])
  for (const answer of [() => page.keyboard.press('Escape'), () => dialog.getByText('Cancel').click()]) {
    await answer()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe('Logout All Users')
    await page.keyboard.press('Enter')
    await dialog.waitFor()
  }

  // A dialog that asks nothing is closed by a click beside it.
  await page.goto(`${host.origin}/admin/sessions?user=admin`)
  const explain = page.getByRole('button', { name: /Explain/ })
  await explain.click()
  const other = page.getByRole('dialog')
  await other.getByRole('button', { name: 'Close' }).waitFor()
  await other.click({ position: { x: 5, y: 5 } })
  expect(await other.isVisible()).toBe(true)
  await page.mouse.click(20, 20)
  await other.waitFor({ state: 'detached' })
  await expect.poll(() => explain.evaluate((button) => button === document.activeElement)).toBe(true)
})

test('a toast stays while one points at it, lies over a dialog and no control that it is about, and can be dismissed', async () => {
  const page = await onDesktop()
  await page.clock.install()
  await page.goto(`${host.origin}/admin/settings?part=force`)
  await page.getByRole('button', { name: 'Logout All Users' }).click()
  await page.getByRole('alertdialog').waitFor()
  // Where it does not have to make way for the button that has the focus.
  await page.setViewportSize({ width: 1280, height: 1400 })
  await page.evaluate(`sessmgr.toast('Done.')`)
  const toast = page.locator('.toast')
  const { x = 0, y = 0 } = (await toast.boundingBox()) ?? {}
  const clip = { x: x + 10, y: y + 10, width: 200, height: 20 }
  const look = async () => (await page.screenshot({ clip, animations: 'disabled' })).toString('base64')
  const overDialog = await look()
  await page.keyboard.press('Escape')
  expect(await look()).toBe(overDialog)
  await toast.hover()
  await page.clock.runFor(30_000)
  await expect.poll(() => toast.count()).toBe(1)
  await page.mouse.move(20, 300)
  await page.clock.runFor(10_000)
  await toast.waitFor({ state: 'detached' })
  await page.evaluate(`sessmgr.toast('That failed.', 'error')`)
  await page.clock.runFor(60_000)
  await page.getByRole('button', { name: 'Dismiss' }).press('Enter')
  await toast.waitFor({ state: 'detached' })
  await page.clock.runFor(1_000)
  expect(await page.evaluate(() => document.activeElement?.closest('#content') !== null)).toBe(true)

  await page.setViewportSize({ width: 768, height: 300 })
  const button = page.getByRole('button', { name: 'Force Logout', exact: true })
  await page.getByLabel('User', { exact: true }).fill('carol')
  // The button is then where toasts usually are.
  await button.evaluate((element) => window.scrollBy(0, element.getBoundingClientRect().bottom - innerHeight + 24))
  await button.click()
  await toast.getByText('Carol was not signed in anywhere.').waitFor()
  expect((await boxOf(toast)).bottom).toBeLessThan((await boxOf(button)).y)
  expect((await seenBy(page)).violations).toEqual([])
})

test('times are in the language of the page, whatever that of the browser is', async () => {
  const page = await host.open('/sessions?user=admin', { locale: 'de-DE' })
  await page.getByRole('button', { name: 'Live' }).waitFor()
  expect(await page.locator('tbody .cell-until').first().textContent()).toMatch(/^\d+ (days|hours)/)
  const other = await arabic.open(host.chromium, '/sessions?user=admin', { locale: 'en-US' })
  await other.locator('tbody time').first().waitFor()
  expect(await other.locator('tbody time').first().textContent()).toMatch(/\p{Script=Arabic}/u)
})

test('from right to left, cards and switches are mirrored and keys go the other way', async () => {
  const page = await mirrored.open(host.chromium)
  const group = page.getByRole('radiogroup')
  await group.waitFor()
  const [radio, label] = await Promise.all(
    ['.radio', '.label'].map((part) => group.locator(part).first().boundingBox()),
  )
  expect(radio?.x).toBeGreaterThan(label?.x ?? 0)
  await page.screenshot({ path: `${PICTURES}admin-settings-rtl.png` })
  await limit(page).fill('7')
  const { scrollWidth, clientWidth } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    clientWidth: document.documentElement.clientWidth,
  }))
  expect(scrollWidth).toBeLessThanOrEqual(clientWidth)
  const toggle = page.getByRole('switch')
  expect(await toggle.isChecked()).toBe(true)
  // The thumb is at the right edge, and moves from there into the track.
  expect(await toggle.evaluate((track) => getComputedStyle(track, '::before').translate)).toBe('-18px')
  await page.goto(`${mirrored.origin}/admin/sessions?user=admin`)
  const arrow = page.getByRole('link', { name: 'Everybody' }).locator('.arrow')
  expect(await arrow.evaluate((element) => getComputedStyle(element).transform)).toBe('matrix(-1, 0, 0, 1, 0, 0)')
})
