import type { Express } from 'express'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { faultsOf } from '../support/page-faults.ts'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:148.0) Gecko/20100101 Firefox/148.0'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const ALICE = 2

/** A request with this header arrives as from a browser that refuses cookies. */
const COOKIELESS = 'x-cookieless'

const before = (app: Express) =>
  app.use((request, _response, next) => {
    if (request.headers[COOKIELESS]) delete request.headers.cookie
    next()
  })
const host = forThisFile(() => startAdminHost({ before }))
beforeEach(() => host.reset())

async function openIn(context: BrowserContext, path = '/account/sessions'): Promise<Page> {
  const page = await context.newPage()
  await page.goto(host.origin + path)
  return page
}

/** Goes to an element by the Tab key, and presses Enter. */
async function press(page: Page, role: 'link' | 'button', name: string | RegExp): Promise<void> {
  const element = page.getByRole(role, { name })
  await element.waitFor()
  const isFocused = () => element.evaluate((it) => it === document.activeElement)
  for (let tabs = 0; tabs < 30 && !(await isFocused()); tabs++) await page.keyboard.press('Tab')
  await expect.poll(() => isFocused()).toBe(true)
  await page.keyboard.press('Enter')
}

test.each([true, false])(
  'a user signs out on one device, then on all others, by keys; with JavaScript: %s',
  async (enabled) => {
    const laptop = await openIn(await host.signIn('alice'))
    const phone = await host.signIn('alice', { userAgent: IPHONE, viewport: { width: 390, height: 800 } })
    await host.signIn('alice', { userAgent: FIREFOX })
    const reader = await host.chromium.visitor({ userAgent: IPHONE, javaScriptEnabled: enabled })
    await reader.addCookies(await phone.cookies())
    const page = await openIn(reader, '/')
    await press(page, 'link', 'Your devices')
    await page.getByText('You are signed in on 3 of 5 devices.').waitFor()
    await press(page, 'button', /^Sign out Chrome on Linux/)
    await page.getByText('Signed out on Chrome on Linux.').waitFor()
    await laptop.reload()
    await laptop.getByText('on Safari on iPhone').waitFor()

    await host.signIn('alice', { userAgent: FIREFOX })
    await press(page, 'link', /^Sign out everywhere else/)
    await press(page, 'button', 'Sign out 2 devices')
    await page.getByText('Signed out on 2 other devices.').waitFor()
    expect(await host.limiter.sessions.count(ALICE)).toBe(1)
    await page.goto(`${host.origin}/`)
    await page.getByText('Signed in as alice').waitFor()
  },
)

/** The pages of the example about sessions that ended or were refused, and how to get there. */
const STATES: readonly [string, () => Promise<Page>][] = [
  [
    'notice',
    async () => {
      const context = await host.signIn('alice')
      await host.limiter.settings.update({ maximum: 1 })
      await host.signIn('alice', { userAgent: FIREFOX })
      const page = await openIn(context, '/')
      await page.getByText('You were signed out on this device.').waitFor()
      return page
    },
  ],
  [
    'refused',
    async () => {
      await host.signIn('alice', { userAgent: FIREFOX })
      await host.limiter.settings.update({ maximum: 1, logic: 'block' })
      return refusedLogin('alice-password')
    },
  ],
  ['wrong-password', () => refusedLogin('wrong')],
]

async function refusedLogin(password: string): Promise<Page> {
  const page = await openIn(await host.chromium.visitor(), '/login?redirect_to=%2Fposts%2F6')
  await page.getByLabel('User name or e-mail').fill('alice')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  return page
}

describe.each(STATES)('the page "%s"', (state, reach) => {
  test('has nothing that axe finds, and fits', async () => {
    expect(await faultsOf(await reach(), `example-${state}`)).toEqual([])
  })
})

test('a refused login has the focus where the next step is, and keeps name and target', async () => {
  const wrong = await refusedLogin('wrong')
  await expect.poll(() => wrong.evaluate('document.activeElement.name')).toBe('password')
  expect(await wrong.getByLabel('Password').getAttribute('aria-describedby')).toBe('refusal')
  expect(await wrong.getByLabel('User name or e-mail').inputValue()).toBe('alice')
  await host.signIn('alice', { userAgent: FIREFOX })
  await host.limiter.settings.update({ maximum: 1, logic: 'block' })
  const full = await refusedLogin('alice-password')
  await expect.poll(() => full.evaluate('document.activeElement.id')).toBe('refusal')
  expect(await full.getByRole('alert').textContent()).toContain('Firefox on Windows, used just now')
  await host.limiter.sessions.endAll(ALICE)
  await full.getByLabel('Password').fill('alice-password')
  await full.getByRole('button', { name: 'Sign in' }).click()
  await full.waitForURL(`${host.origin}/posts/6`)
})

test('a browser that loses the cookie at its login is told so, and the form keeps the target', async () => {
  const refusing = await host.chromium.visitor({ extraHTTPHeaders: { [COOKIELESS]: '1' } })
  const page = await openIn(refusing, '/login?redirect_to=%2Fposts%2F6')
  await page.getByLabel('User name or e-mail').fill('alice')
  await page.getByLabel('Password').fill('alice-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Signing in needs cookies, which your browser blocks.').waitFor()
  expect(await page.locator('[name=redirect_to]').inputValue()).toBe('/posts/6')
})

test('in mode ask, a login continues on this device, and goes on to the page that it was for', async () => {
  const context = await host.signIn('alice')
  await host.limiter.settings.update({ maximum: 1, logic: 'ask' })
  const page = await openIn(await host.chromium.visitor({ userAgent: FIREFOX }), '/login?redirect_to=%2Fposts%2F6')
  await page.getByLabel('User name or e-mail').fill('alice')
  await page.getByLabel('Password').fill('alice-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Continue on this device?' }).waitFor()
  await page.getByRole('button', { name: 'Continue here' }).click()
  await page.waitForURL(`${host.origin}/posts/6`)
  await page.getByText('Signed in as alice').waitFor()
  const earlier = await openIn(context, '/')
  await earlier.getByText('to make room for Firefox on Windows').waitFor()
})
