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

test('totals that cannot be read are dashes, and a list that was never read has no time', async () => {
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

/** What an administrator does on a page, and the call that it makes. A call without an action is made at intervals. */
const CALLS = callsOf([
  ['the totals', 'sessions', /people\/summary/],
  ['the people', 'sessions', /v1\/people\?/],
  ['a person', 'sessions?user=alice', /v1\/sessions\?/],
  ['the events', 'activity', /v1\/audit\?/],
  ['the counts', 'activity', /audit\/counts/],
  ['a search', 'sessions', /people\/search/, (page) => page.getByRole('combobox', { name: 'Find a user' }).fill('ali')],
  ['an explanation', 'sessions?user=alice', /v1\/explain/, press('Explain')],
  ['the chart of the limit', 'support', /people\/summary/, goTo('Settings', 'General Settings')],
  ['the report', 'settings', /v1\/support/, goTo('Support', 'For a support request')],
  ['the passwords', 'support', /passwords/, goTo('Settings', 'Application Passwords')],
  ['ending a session', 'sessions?user=alice', /destroy/, (page) => page.locator('.row-end').first().click()],
  ['ending all of a person', 'sessions?user=alice', /destroy/, press('Sign out everywhere…', /^Sign out( \d+)?$/)],
  ['ending all from the list', 'sessions', /v1\/sessions\?/, endFromList],
  ['erasing', 'sessions', /erase/, erase],
  ['signing everybody out', 'sessions', /destroy-all/, press('Sign everybody out…', 'Sign everybody out')],
  ['exporting people', 'sessions', /export/, exportAs('CSV')],
  ['exporting events', 'activity', /export/, exportAs('CSV')],
  ['saving', 'settings', /v2\/settings/, press('Save Changes')],
  ['forcing a logout', 'settings', /v1\/sessions/, forceLogout],
  ['creating a password', 'settings', /passwords/, createPassword],
  ['clearing the cache', 'comments', /cache/, press('Clear comments cache')],
])

function callsOf(rows: [what: string, view: string, call: RegExp, act?: (page: Page) => Promise<unknown>][]) {
  return rows.map(([what, view, call, act]) => ({ what, view, call, act }))
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** Presses buttons, one after the other. */
function press(...names: (string | RegExp)[]) {
  return async (page: Page) => {
    for (const name of names) await button(page, name).last().click()
  }
}

/** Opens a tab, and scrolls to a panel. */
function goTo(tab: string, heading: string) {
  return async (page: Page) => {
    await page.getByRole('link', { name: tab }).click()
    const panel = page.getByRole('heading', { name: heading }).or(page.locator('.away')).first()
    await panel.evaluate((element) => element.scrollIntoView())
  }
}

async function endFromList(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for Alice' }).click()
  await page.getByRole('menuitem', { name: 'Sign out everywhere…' }).click()
}

async function erase(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for Alice' }).click()
  await page.getByRole('menuitem', { name: 'Erase…' }).click()
  await page.getByLabel('To confirm, type').fill('alice')
  await button(page, 'Erase').click()
}

function exportAs(format: string) {
  return async (page: Page) => {
    await button(page, 'Export…').click()
    await page.getByRole('menuitem', { name: format }).click()
  }
}

async function forceLogout(page: Page): Promise<void> {
  await page.getByLabel('User', { exact: true }).fill('alice')
  await button(page, 'Force Logout').click()
}

async function createPassword(page: Page): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill('CI')
  await button(page, 'Create Password').click()
}

/** Counts the places in view that say this. */
const inView = (page: Page, says: string) =>
  page.evaluate((words) => {
    const found = document.evaluate(`//body//*[text()[contains(., ${JSON.stringify(words)})]]`, document)
    let count = 0
    for (let node = found.iterateNext(); node instanceof HTMLElement; node = found.iterateNext()) {
      const { top, bottom, width } = node.getBoundingClientRect()
      if (width > 1 && bottom > 0 && top < innerHeight && node.checkVisibility()) count++
    }
    return count
  }, says)

describe.each(IS_WHOLE_MATRIX ? FAILURES : FAILURES.slice(0, 1))('a call that ends with %s', (name, says, fail) => {
  test.each(CALLS)('$what on /$view says so in view, and loses no edit', async ({ view, call, act }) => {
    for (let count = 0; count < 2; count++) await (await host.signIn('alice')).close()
    const context = await host.signIn('admin', { viewport: { width: 1280, height: 420 } })
    const page = await context.newPage()
    await page.clock.install()
    await page.goto(`${host.origin}/admin/${view}`)
    const limit = page.getByLabel('Active Logins Limit')
    const isEditing = view === 'settings' && !String(call).includes('support')
    if (isEditing) await limit.fill('7')
    else await page.locator('.figures strong, tbody tr, .panel').first().waitFor()
    // Clicks right after the list has changed are ignored.
    await page.clock.runFor(1_000)
    // A session that is over fails every call, and any other fault this one.
    const isHit = (url: URL) =>
      url.pathname.includes('/api/') && (name === '401' || call.test(url.pathname + url.search))
    await page.route(isHit, fail)
    if (name === '401') await page.route('**/admin/', (route) => route.fulfill({ status: 401, body: '' }))
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    await act?.(page)
    const words = name === 'no answer' || name.startsWith('an answer') ? 'The server is not responding.' : says
    const wait = async () => {
      await page.clock.runFor(5_000)
      return inView(page, words)
    }
    await expect.poll(wait, { timeout: 20_000 }).toBeGreaterThan(0)
    if (isEditing) expect(await limit.inputValue()).toBe('7')
    await context.close()
  })
})

test('an empty answer to a click is told like a failure, and the button works again', async () => {
  await host.signIn('alice')
  const page = await host.open('/sessions?user=alice')
  await page.route('**/sessions/destroy', (route) => route.fulfill({ json: null }))
  await page.locator('.row-end').first().click()
  await page.getByText('Signing out did not work.').first().waitFor()
  await expect.poll(() => page.locator('.row-end').first().textContent()).toBe('Sign out')
})

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
