import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../support/admin-host.ts'
import { commentsLoaded } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:148.0) Gecko/20100101 Firefox/148.0'
const ON_FIREFOX = { userAgent: FIREFOX }

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

/** A page of somebody who has signed in. */
async function openAs(login: string, path: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await (await host.signIn(login, options)).newPage()
  await page.goto(`${host.origin}${path}`)
  return page
}

async function displace(login: string): Promise<void> {
  await host.limiter.settings.update({ maximum: 1 })
  await host.signIn(login, ON_FIREFOX)
}

const noticeOf = async (page: Page) => (await page.locator('.sessmgr-notice').textContent())?.replace(/\s+/g, ' ')

test.each<[string, string, () => Promise<unknown>]>([
  ['displaced', 'this account signed in on Firefox on Windows. If that was not you', () => displace('bob')],
  [
    'ended by its user',
    'on Firefox on Windows. If that was not you',
    async () => {
      const page = await openAs('bob', '/account/sessions', ON_FIREFOX)
      await page.getByRole('button', { name: /^Sign out Chrome on Linux/ }).click()
      await page.getByText('Signed out on Chrome on Linux.').waitFor()
    },
  ],
  ['ended by an administrator', 'An administrator did that', () => host.limiter.sessions.endAll(3, { by: 'admin' })],
  ['ended for everybody', 'Everyone was signed out.', () => host.limiter.sessions.logoutAllUsers()],
])('%s: the next pages say so, after comments, an image and a redirect', async (kind, words, end) => {
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
  await page.screenshot({ path: `${PICTURES}notice-${kind.replaceAll(' ', '-')}.png` })
  // Other tabs, whose session is over too, arrive at any page.
  for (const path of ['/', '/admin']) {
    await page.goto(host.origin + path)
    expect(await noticeOf(page)).toContain(words)
  }
})

test('a protected page that redirects leaves the notice to the login page, which leads back', async () => {
  const page = await openAs('admin', '/admin/settings')
  await displace('admin')
  await page.goto(`${host.origin}/admin/settings`)
  await page.getByText('Sign in to open Session Manager.').waitFor()
  expect(await noticeOf(page)).toContain('You were signed out on this device.')
  await page.getByLabel('User name or e-mail').fill('admin')
  await page.getByLabel('Password').fill('admin-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
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
  const page = await (await host.chromium.visitor({ viewport: { width: 360, height: 740 } })).newPage()
  await page.goto(host.origin)
  await page.evaluate(
    `document.querySelector('nav').innerHTML = '<span>Signed in as <strong>' + 'x'.repeat(90) + '</strong></span>'`,
  )
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
})
