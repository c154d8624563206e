import type { Express } from 'express'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { startAdminHost } from '../../support/admin-host.ts'
import { commentsLoaded } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:148.0) Gecko/20100101 Firefox/148.0'
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
  const page = await openIn(await host.signIn('bob'), '/posts/1')
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
