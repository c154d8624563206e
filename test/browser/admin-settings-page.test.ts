import { expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
const SETTINGS = { name: 'Settings', exact: true }

// Decision 82.
test('the Settings tab is one page, and its side menu leads to each part', async () => {
  const page = await host.open('/settings', { viewport: { width: 1280, height: 500 } })
  const headings = page.locator('main h2')
  await expect
    .poll(() => headings.allTextContents())
    .toEqual(['General Settings', 'Role Limits', 'Force Logout', 'Application Passwords'])
  const menu = page.getByRole('navigation', SETTINGS)
  const parts = ['General Settings', 'Add-ons', 'Force Logout', 'Application Passwords']
  expect(await menu.getByRole('link').allTextContents()).toEqual(parts)
  const top = (name: string) =>
    page.getByRole('heading', { name }).evaluate((heading) => heading.getBoundingClientRect().top)
  for (const [link, heading] of [
    ['Application Passwords', 'Application Passwords'],
    ['Force Logout', 'Force Logout'],
    ['Add-ons', 'Role Limits'],
    ['General Settings', 'General Settings'],
    ['Force Logout', 'Force Logout'],
  ] as const) {
    await menu.getByRole('link', { name: link }).click()
    await expect.poll(() => top(heading)).toBeLessThan(400)
    expect(await top(heading)).toBeGreaterThan(0)
    // The menu stays in view.
    expect(
      await menu.getByRole('link', { name: 'General Settings' }).evaluate((one) => one.getBoundingClientRect().top),
    ).toBeGreaterThan(0)
  }
  await page.evaluate('scrollTo(0, 0)')
  await menu.getByRole('link', { name: 'Force Logout' }).click()
  await expect.poll(() => top('Force Logout')).toBeLessThan(400)
  await page.reload()
  await expect.poll(() => top('Force Logout')).toBeLessThan(400)
})

test('the mouse wheel does not change a focused limit, and typing replaces it', async () => {
  const page = await host.open('/settings', { viewport: { width: 1280, height: 500 } })
  const limit = page.getByLabel('Active Logins Limit')
  await limit.click()
  await limit.hover()
  for (let notch = 0; notch < 3; notch++) await page.mouse.wheel(0, 100)
  await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(0)
  expect(await limit.inputValue()).toBe('5')
  await page.keyboard.type('12')
  expect(await limit.inputValue()).toBe('12')
})

test.each([
  ['a desktop', { width: 1280, height: 600 }],
  ['a phone', { width: 360, height: 640 }],
])('saving while signed out is seen at every place of the page, on %s', async (_name, viewport) => {
  for (const place of [0, 0.5, 1]) {
    const page = await host.open('/settings', { viewport })
    await page.getByLabel('Active Logins Limit').fill('7')
    await page.getByRole('heading', { name: 'Application Passwords' }).waitFor()
    await host.limiter.sessions.endAll(1)
    await page.evaluate(`scrollTo(0, document.body.scrollHeight * ${place})`)
    await page.getByRole('button', { name: 'Save Changes' }).click()
    const notice = page.getByText('You have been signed out')
    await notice.waitFor()
    const box = await page.getByRole('link', { name: /^Sign in again/ }).boundingBox()
    const head = await notice.boundingBox()
    expect(head?.y).toBeGreaterThanOrEqual(0)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height)
    await page.screenshot({ path: `test-output/admin-signed-out-${viewport.width}-${place}.png` })
    await page.close()
  }
})

test('a limit above the bound of an account says what it counts as', async () => {
  const page = await host.open('/settings')
  const limit = page.getByLabel('Active Logins Limit')
  await limit.fill('1000')
  const bound = page.getByText('Values above 1,000 count as 1,000.')
  expect(await bound.count()).toBe(0)
  await limit.fill('1000000')
  await bound.waitFor()
  expect(await limit.getAttribute('aria-describedby')).toBe(await bound.locator('..').getAttribute('id'))
  await page.getByRole('button', { name: 'Discard' }).click()
})
