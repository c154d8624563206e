import type { Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../support/admin-host.ts'
import { seenBy } from '../support/chromium.ts'
import { deferred } from '../support/deferred.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { IS_WHOLE_MATRIX } from '../support/page-faults.ts'

const host = forThisFile(() => startAdminHost())

const focusedText = (page: Page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || '')

test('a failure stays until something succeeds', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  await page.goto(`${host.origin}/admin/comments`)
  const clear = page.getByRole('button', { name: 'Clear comments cache' })
  await clear.waitFor()
  await page.context().setOffline(true)
  await clear.press('Enter')
  const failure = page.locator('.toast.error').getByText('The server is not responding.')
  await failure.waitFor()
  await page.clock.runFor(120_000)
  await expect.poll(() => failure.count()).toBe(1)
  await page.context().setOffline(false)
  await clear.press('Enter')
  await page.locator('.toast').getByText('The comments cache has been cleared.').waitFor()
  await expect.poll(() => failure.count()).toBe(0)
})

test('the focus is not lost with the button that had it', async () => {
  const page = await (await host.signIn('admin')).newPage()
  let isDown = true
  await page.route('**/wp/v2/settings', (route) => (isDown ? route.fulfill({ status: 400 }) : route.continue()))
  await page.goto(`${host.origin}/admin/settings`)
  const retry = page.getByRole('button', { name: 'Try again' })
  await retry.waitFor()
  isDown = false
  await retry.press('Enter')
  const limit = page.getByLabel('Active Logins Limit')
  await limit.waitFor()
  await expect.poll(() => focusedText(page)).toBe('content')
  await limit.fill('7')
  const discard = page.getByRole('button', { name: 'Discard' })
  await discard.focus()
  await discard.press('Enter')
  await expect.poll(() => discard.count()).toBe(0)
  await expect.poll(() => focusedText(page)).toBe('content')
})

/** Opens the screen as a browser sees it behind a proxy that removes the prefix `/app`. */
async function openUnderPrefix(): Promise<Page> {
  const page = await (await host.signIn('admin')).newPage()
  await page.route('**/app/**', async (route) => {
    const url = route.request().url().replace('/app/', '/')
    await route.fulfill({ response: await route.fetch({ url }) })
  })
  // What is outside the prefix belongs to another application.
  await page.route(`${host.origin}/admin/assets/**`, (route) => route.fulfill({ status: 404, body: 'not here' }))
  await page.goto(`${host.origin}/app/admin/sessions`)
  return page
}

const MISSING =
  /^The files of this page did not load from \/admin\/assets\/[\w-]+\.js\. Check `path` in limiter\.admin\(\)\.$/

test('behind a proxy that removes a prefix, the page says that its files are missing', async () => {
  const page = await openUnderPrefix()
  await page.getByRole('status').getByText(MISSING).waitFor()
  await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
  expect((await seenBy(page)).violations).toEqual([])
  await page.screenshot({ path: `${PICTURES}admin-files-missing.png` })
})

test('if its script does not arrive in time, the page says so, and the screen still appears once it does', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  const arrived = deferred()
  await page.route('**/admin/assets/*.js', async (route) => {
    await arrived.promise
    await route.continue()
  })
  await page.goto(`${host.origin}/admin/sessions`, { waitUntil: 'commit' })
  const missing = page.getByRole('status').getByText(MISSING)
  await page.getByText('Loading…').waitFor({ state: 'attached' })
  // The clock also goes on by itself, for as long as a slow machine takes.
  await page.clock.runFor(4_000)
  await expect.poll(() => missing.count()).toBe(0)
  await page.clock.runFor(6_500)
  await missing.waitFor()
  arrived.resolve()
  await page.clock.resume()
  await page.getByRole('button', { name: 'Live' }).waitFor()
  await expect.poll(() => missing.count()).toBe(0)
})

test('totals that cannot be read are dashes with the reason, and a list that was never read has no time', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.route(/\/v1\/people\?/, (route) => route.fulfill({ status: 400, json: { code: 'failed' } }))
  await page.route('**/people/summary', (route) => route.fulfill({ status: 400, json: { code: 'failed' } }))
  await page.goto(`${host.origin}/admin/sessions`)
  const totals = page.locator('.figures strong')
  await expect.poll(() => totals.allTextContents()).toEqual(['–', '–', '–', '–'])
  expect(await totals.first().getAttribute('title')).toBe('This could not be loaded.')
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await page.locator('.live').textContent()).not.toContain('1970')
  await page.screenshot({ path: `${PICTURES}admin-no-totals.png` })
})

test.each([
  ['behind', -1],
  ['ahead', 1],
])("with an administrator's clock that is a day %s, the times are those of the server", async (_name, days) => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install({ time: Date.now() + days * 86_400_000 })
  await page.goto(`${host.origin}/admin/activity?period=today`)
  await page.locator('.event-when').first().waitFor()
  await page.goto(`${host.origin}/admin/sessions?user=admin`)
  await page.locator('.cell-used time').first().waitFor()
  const times = await page.locator('time').allTextContents()
  expect(times.length).toBeGreaterThan(2)
  expect(times.filter((text) => /^in |tomorrow|day ago|hours/.test(text))).toEqual([])
  expect(times).toContain('now')
})

test.each([
  ['only spaces', ' \u00a0 \u2003', 'alice'],
  ['only direction marks', '\u202e\u2066 \u200f', 'alice'],
  ['two lines', 'Alice\nSmith', 'Alice Smith'],
  ['turned around', 'document\u202etxt.exe', 'documenttxt.exe'],
])('a display name of %s is shown as visible text in the heading and the dialog', async (_name, given, shown) => {
  await host.signIn('alice')
  const page = await (await host.signIn('admin')).newPage()
  await page.route(/\/v1\/(sessions|people)\?/, async (route) => {
    const response = await route.fetch()
    const text = (await response.text()).replaceAll('"display_name":"Alice"', `"display_name":${JSON.stringify(given)}`)
    await route.fulfill({ response, body: text })
  })
  await page.goto(`${host.origin}/admin/sessions`)
  await page.getByRole('link', { name: shown, exact: true }).first().click()
  await page.getByRole('heading', { name: shown, exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('alertdialog', { name: `Sign ${shown} out everywhere?` }).waitFor()
  await page.screenshot({ path: `${PICTURES}admin-name-dialog.png` })
})

/** Answers with an error as sessmgr sends it. */
const refusal = (status: number, code: string) => (route: Route) =>
  route.fulfill({ status, json: { code, message: `Said by ${code}.`, data: { status } } })

const SILENT = 'The server is not responding. Check your connection and try again.'
const SIGNED_OUT = 'Sign in again in another tab, then come back.'

/** How a server fails, and what the screen then says once. */
const FAILURES: readonly (readonly [name: string, says: string, fail: (route: Route) => unknown])[] = [
  ['500', 'Said by internal_error.', refusal(500, 'internal_error')],
  ['no answer', SILENT, (route) => route.abort()],
  ...(IS_WHOLE_MATRIX
    ? ([
        ['401', SIGNED_OUT, refusal(401, 'rest_not_logged_in')],
        ['403', 'Said by rest_forbidden.', refusal(403, 'rest_forbidden')],
        ['409', 'Said by conflict.', refusal(409, 'conflict')],
        ['502 as HTML', 'returned status 502.', (route) => route.fulfill({ status: 502, body: '<h1>Bad</h1>' })],
        ['503', 'Said by store_unavailable.', refusal(503, 'store_unavailable')],
        ['an answer after 30 s', SILENT, () => {}],
      ] as typeof FAILURES)
    : []),
]

const VIEWS = IS_WHOLE_MATRIX
  ? [
      'sessions?user=admin',
      'sessions',
      'sessions?user=admin&part=activity',
      'activity',
      'settings',
      'comments',
      'addons',
    ]
  : ['sessions?user=admin', 'activity']

describe.each(FAILURES)('while every call ends with %s', (name, says, fail) => {
  test.each(VIEWS)('/%s says so in one sentence, which stays', async (view) => {
    const page = await (await host.signIn('admin')).newPage()
    const errors: Error[] = []
    page.on('pageerror', (error) => errors.push(error))
    await page.clock.install()
    await page.route('**/api/**', fail)
    if (name === '401') await page.route('**/admin/', (route) => route.fulfill({ status: 401, body: '' }))
    await page.goto(`${host.origin}/admin/${view}`, { waitUntil: 'commit' })
    const sentence = page.locator('.notice').getByText(says)
    // Each call is made three times, each waits up to 20 seconds, and then a list is read again at intervals.
    for (let seconds = 0; seconds < 100 && (await sentence.count()) === 0; seconds++) await page.clock.runFor(1_000)
    for (let seconds = 0; seconds < 15; seconds++) {
      expect(await sentence.count()).toBe(1)
      expect(await page.locator('.bone').count()).toBe(0)
      await page.clock.runFor(1_000)
    }
    const figures = await page.locator('.figures strong').allTextContents()
    expect(figures.filter((text) => text !== '–')).toEqual([])
    expect(errors).toEqual([])
  })
})

test('what loads for 8 seconds says that the server is slow', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  const answer = deferred()
  await page.route('**/api/**', async (route) => {
    await answer.promise
    await route.continue()
  })
  for (const view of ['sessions', 'settings']) {
    await page.goto(`${host.origin}/admin/${view}`)
    const slow = page.getByRole('status').getByText('Still loading. The server is slow.')
    await page.locator('.bone').first().waitFor({ state: 'attached' })
    expect(await slow.count()).toBe(0)
    await page.clock.runFor(9_000)
    await slow.first().waitFor()
  }
  answer.resolve()
})
