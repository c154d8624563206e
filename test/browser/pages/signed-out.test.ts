import type { Express } from 'express'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { startAdminHost } from '../../support/admin-host.ts'
import { commentsLoaded } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:148.0) Gecko/20100101 Firefox/148.0'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const ON_FIREFOX = { userAgent: FIREFOX }
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

async function openIn(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(host.origin + path)
  return page
}

/** A page of somebody who has signed in. */
const openAs = async (login: string, path: string, options?: BrowserContextOptions) =>
  openIn(await host.signIn(login, options), path)

async function displace(login: string): Promise<void> {
  await host.limiter.settings.update({ maximum: 1 })
  await host.signIn(login, ON_FIREFOX)
}

const noticeOf = async (page: Page) => (await page.locator('.sessmgr-notice').textContent())?.replace(/\s+/g, ' ')

/** Fills in the login form, which then leads to post 6. */
async function signIn(page: Page, login: string, password = `${login}-password`): Promise<void> {
  await page.getByLabel('User name or e-mail').fill(login)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const LOGIN = '/login?redirect_to=%2Fposts%2F6'

test.each<[string, string, () => Promise<unknown>]>([
  ['displaced', 'this account signed in on Firefox on Windows. If that was not you', () => displace('bob')],
  ['ended by an administrator', 'An administrator did that', () => host.limiter.sessions.endAll(3, { by: 'admin' })],
  ['ended for everybody', 'Everyone was signed out.', () => host.limiter.sessions.logoutAllUsers()],
])('%s: the next pages say so, after comments, an image and a redirect', async (_kind, words, end) => {
  const page = await openAs('bob', '/posts/1')
  await end()
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await commentsLoaded(page)
  await page.evaluate('fetch("/me").then(({ status }) => status)')
  await page.evaluate('new Promise((done) => { Object.assign(new Image(), { src: "/none.png", onerror: done }) })')
  await page.goto(`${host.origin}/admin`)
  expect(new URL(page.url()).pathname).toBe('/login')
  expect(await noticeOf(page)).toContain(words)
  const at = await page.locator('.sessmgr-notice time').getAttribute('datetime')
  expect(Math.abs(Date.now() - Date.parse(at ?? ''))).toBeLessThan(120_000)
  // Other tabs, whose session is over too, arrive at any page.
  for (const path of ['/', '/admin']) {
    await page.goto(host.origin + path)
    expect(await noticeOf(page)).toContain(words)
  }
  expect(await faultsOf(page, 'example-notice')).toEqual([])
})

test('a protected page leaves the notice to the login page, which leads back', async () => {
  const page = await openAs('admin', '/admin/settings')
  await displace('admin')
  await page.goto(`${host.origin}/admin/settings`)
  await page.getByText('Sign in to open Session Manager.').waitFor()
  expect(await noticeOf(page)).toContain('You were signed out on this device.')
  await signIn(page, 'admin')
  await page.waitForURL(`${host.origin}/admin/settings`)
})

test('a comment that was being written is still there, and says why it was not posted', async () => {
  const page = await openAs('carol', '/posts/2')
  await displace('carol')
  await page.getByLabel('Your comment').fill('A long thought.')
  await page.getByRole('button', { name: 'Post the comment' }).click()
  await page.getByText('You are no longer signed in here. Add your name').waitFor()
  expect(await page.getByLabel('Your comment').inputValue()).toBe('A long thought.')
  await page.getByLabel('Your name').fill('Carol')
  await page.getByRole('button', { name: 'Post the comment' }).click()
  await page.locator('.comment', { hasText: 'A long thought.' }).waitFor()
})

test('a long name leaves a narrow page as narrow as it is', async () => {
  const page = await openIn(await host.chromium.visitor({ viewport: { width: 360, height: 740 } }), '/')
  await page.evaluate(
    `document.querySelector('nav').innerHTML = '<span>Signed in as <strong>' + 'x'.repeat(90) + '</strong></span>'`,
  )
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})

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
  async (isOn) => {
    const laptop = await openAs('alice', '/account/sessions')
    const phone = await host.signIn('alice', { userAgent: IPHONE, viewport: { width: 390, height: 800 } })
    await host.signIn('alice', ON_FIREFOX)
    const reader = await host.chromium.visitor({ userAgent: IPHONE, javaScriptEnabled: isOn })
    await reader.addCookies(await phone.cookies())
    const page = await openIn(reader, '/')
    await press(page, 'link', 'Your devices')
    await page.getByText('You are signed in on 3 of 5 devices.').waitFor()
    await press(page, 'button', /^Sign out Chrome on Linux/)
    await page.getByText('Signed out on Chrome on Linux.').waitFor()
    await laptop.reload()
    await laptop.getByText('on Safari on iPhone').waitFor()
    await host.signIn('alice', ON_FIREFOX)
    await press(page, 'link', /^Sign out everywhere else/)
    await press(page, 'button', 'Sign out 2 devices')
    await page.getByText('Signed out on 2 other devices.').waitFor()
    expect(await host.limiter.sessions.count(ALICE)).toBe(1)
    await page.goto(`${host.origin}/`)
    await page.getByText('Signed in as alice').waitFor()
  },
)

test('a refused login has the focus where the next step is, keeps name and target, and axe finds nothing', async () => {
  const page = await openIn(await host.chromium.visitor(), LOGIN)
  await signIn(page, 'alice', 'wrong')
  await page.getByRole('alert').waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password')
  expect(await page.getByLabel('Password').getAttribute('aria-describedby')).toBe('refusal')
  expect(await page.getByLabel('User name or e-mail').inputValue()).toBe('alice')
  expect(await faultsOf(page, 'example-wrong-password')).toEqual([])
  await host.signIn('alice', ON_FIREFOX)
  await host.limiter.settings.update({ maximum: 1, logic: 'block' })
  await signIn(page, 'alice')
  await page.getByRole('alert').getByText('Firefox on Windows, used just now').waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('refusal')
  expect(await faultsOf(page, 'example-refused')).toEqual([])
  await host.limiter.sessions.endAll(ALICE)
  await signIn(page, 'alice')
  await page.waitForURL(`${host.origin}/posts/6`)
})

test('a browser that loses the cookie at its login is told so, and the form keeps the target', async () => {
  const page = await openIn(await host.chromium.visitor({ extraHTTPHeaders: { [COOKIELESS]: '1' } }), LOGIN)
  await signIn(page, 'alice')
  await page.getByText('Signing in needs cookies, which your browser blocks.').waitFor()
  expect(await page.locator('[name=redirect_to]').inputValue()).toBe('/posts/6')
})

test('in mode ask, a login continues on this device, and goes on to the page that it was for', async () => {
  const context = await host.signIn('alice')
  await host.limiter.settings.update({ maximum: 1, logic: 'ask' })
  const page = await openIn(await host.chromium.visitor(ON_FIREFOX), LOGIN)
  await signIn(page, 'alice')
  await page.getByRole('heading', { name: 'Continue on this device?' }).waitFor()
  await page.getByRole('button', { name: 'Continue here' }).click()
  await page.waitForURL(`${host.origin}/posts/6`)
  await page.getByText('Signed in as alice').waitFor()
  const earlier = await openIn(context, '/')
  await earlier.getByText('to make room for Firefox on Windows').waitFor()
})
