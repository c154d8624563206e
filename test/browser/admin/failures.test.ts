import type { Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { startAdminHost } from '../../support/admin-host.ts'
import { hold } from '../../support/chromium.ts'
import { deferred } from '../../support/deferred.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { IS_WHOLE_MATRIX } from '../../support/page-faults.ts'

const host = forThisFile(() => startAdminHost())

/** An empty page in which an administrator is signed in. */
const blank = async (): Promise<Page> => (await host.signIn('admin')).newPage()

test('totals that cannot be read are dashes with the reason, and a list that was never read has no time', async () => {
  const page = await blank()
  const held = deferred()
  await page.route(/\/v1\/people(\?|\/summary)/, async (route) => {
    await held.promise
    await route.fulfill({ status: 400, json: { code: 'failed' } })
  })
  await page.goto(`${host.origin}/admin/sessions`)
  // Nothing is live before there is any data.
  await expect.poll(() => page.locator('.live button').textContent()).toBe('Loading…')
  held.resolve()
  const totals = page.locator('.figures strong')
  await expect.poll(() => totals.allTextContents()).toEqual(['–', '–', '–', '–'])
  expect(await totals.first().getAttribute('title')).toBe('This could not be loaded.')
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await page.locator('.live').textContent()).not.toContain('1970')
})

test('a display name is shown as visible text in the heading and the dialog', async () => {
  await host.signIn('alice')
  const page = await blank()
  let name = ''
  await page.route(/\/v1\/(sessions|people)\?/, async (route) => {
    const response = await route.fetch()
    const text = (await response.text()).replaceAll('"display_name":"Alice"', `"display_name":${JSON.stringify(name)}`)
    await route.fulfill({ response, body: text })
  })
  for (const [given, shown] of [
    [' \u00a0 \u2003', 'alice'],
    ['Alice\nSmith', 'Alice Smith'],
    ['document\u202etxt.exe', 'documenttxt.exe'],
  ] as const) {
    name = given
    await page.goto(`${host.origin}/admin/sessions`)
    await page.getByRole('link', { name: shown, exact: true }).first().click()
    await page.getByRole('heading', { name: shown, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('alertdialog', { name: `Sign ${shown} out everywhere?` }).waitFor()
  }
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
  ['401', SIGNED_OUT, refusal(401, 'rest_not_logged_in')],
  ['403', 'Said by rest_forbidden.', refusal(403, 'rest_forbidden')],
  ['409', 'Said by conflict.', refusal(409, 'conflict')],
  ['502 as HTML', 'returned status 502.', (route) => route.fulfill({ status: 502, body: '<h1>Bad</h1>' })],
  ['503', 'Said by store_unavailable.', refusal(503, 'store_unavailable')],
  ['an answer after 30 s', SILENT, () => {}],
]
const VIEWS = ['sessions?user=admin', 'activity', 'sessions', 'sessions?user=admin&part=activity', 'settings']
const ROWS = IS_WHOLE_MATRIX ? [...VIEWS, 'comments', 'addons'] : VIEWS.slice(0, 2)

describe.each(IS_WHOLE_MATRIX ? FAILURES : FAILURES.slice(0, 2))(
  'while every call ends with %s',
  (name, says, fail) => {
    test.each(ROWS)('/%s says so in one sentence, which stays', async (view) => {
      const page = await blank()
      const errors: Error[] = []
      page.on('pageerror', (error) => errors.push(error))
      await page.clock.install()
      await page.route('**/api/**', fail)
      if (name === '401') await page.route('**/admin/', (route) => route.fulfill({ status: 401, body: '' }))
      await page.goto(`${host.origin}/admin/${view}`, { waitUntil: 'commit' })
      const sentence = page.locator('.notice').getByText(says)
      // Each call is made three times, each waits up to 20 seconds, and then a list is read again at intervals.
      for (let seconds = 0; seconds < 100 && (await sentence.count()) === 0; seconds++) await page.clock.runFor(1_000)
      for (let seconds = 0; seconds < 15; seconds += 3) {
        expect([await sentence.count(), await page.locator('.bone').count()]).toEqual([1, 0])
        await page.clock.runFor(3_000)
      }
      const figures = await page.locator('.figures strong').allTextContents()
      expect(figures.filter((text) => text !== '–')).toEqual([])
      expect(errors).toEqual([])
      await page.context().close()
    })
  },
)

test('what loads for 8 seconds says that the server is slow', async () => {
  const page = await blank()
  await page.clock.install()
  const release = await hold(page, '**/api/**')
  for (const view of ['sessions', 'settings']) {
    await page.goto(`${host.origin}/admin/${view}`)
    const slow = page.getByRole('status').getByText('Still loading. The server is slow.')
    await page.locator('.bone').first().waitFor({ state: 'attached' })
    expect(await slow.count()).toBe(0)
    await page.clock.runFor(9_000)
    await slow.first().waitFor()
  }
  release()
})

const HTML = { contentType: 'text/html', body: '<!doctype html><title>Not here</title>' }
const json = (body: string) => ({ contentType: 'application/json', body })
const FOREIGN = 'returned status 200 and a response that is not from sessmgr.'

test('an application that answers in place of sessmgr is said to, with the address and what to do', async () => {
  const page = await blank()
  let answer: Parameters<Route['fulfill']>[0] = { status: 404, ...HTML }
  await page.route('**/api/**', (route) => route.fulfill(answer))
  await page.goto(`${host.origin}/admin/settings`)
  const alert = page.getByRole('alert')
  await alert.getByText('GET /api/wp/v2/settings returned status 404. Is limiter.router() mounted there?').waitFor()
  await alert.getByText('set restPath to that path').waitFor()
  for (const [given, words] of [
    [{ status: 200, ...HTML }, FOREIGN],
    [{ status: 200, ...json('null') }, FOREIGN],
    [{ status: 200, ...json('7') }, FOREIGN],
    [{ status: 404, ...json('{"error":"nope"}') }, 'returned status 404. Is limiter.router()'],
    [{ status: 401, ...HTML }, 'returned status 401. Is limiter.router()'],
    [{ status: 502, ...HTML }, 'GET /api/wp/v2/settings returned status 502.'],
    [{ status: 429, headers: { 'Retry-After': '120' }, body: 'Slow' }, /too many requests\. Try again at \d+:\d\d/],
  ] as const) {
    answer = given
    await page.reload()
    await alert.getByText(words).waitFor()
  }
  for (const path of ['/sessions?user=admin', '/activity']) {
    answer = { status: 200, ...json('null') }
    await page.goto(`${host.origin}/admin${path}`)
    await alert.getByText(FOREIGN).waitFor()
    await expect.poll(() => page.getByText('could not be shown').count()).toBe(0)
  }
})
