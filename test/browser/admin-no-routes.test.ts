import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PICTURES } from '../support/admin-host.ts'
import { startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() => startAdminLab())

interface Foreign {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** Opens the screen over an application whose routes are not those of sessmgr. */
async function openOver(answer: Foreign, path = '/settings', routes = '**/api/**'): Promise<Page> {
  const page = await (await lab.visitor(chromium, 'admin')).newPage()
  await page.route(routes, (route) => route.fulfill(answer))
  await page.goto(`${lab.origin}/admin${path}`)
  return page
}

const HTML = { contentType: 'text/html', body: '<!doctype html><title>Not here</title>' }
const JSON_TYPE = { contentType: 'application/json' }

test('where the routes are not mounted, the screen says which address answered what, and what to do', async () => {
  const page = await openOver({ status: 404, ...HTML })
  const alert = page.getByRole('alert')
  await alert.getByText('GET /api/wp/v2/settings returned status 404. Is limiter.router() mounted there?').waitFor()
  await alert.getByText('set restPath to that path').waitFor()
  await page.screenshot({ path: `${PICTURES}admin-no-routes.png` })
})

test.each([
  [
    'a page for every address',
    { status: 200, ...HTML },
    'returned status 200 and a response that is not from sessmgr.',
  ],
  ['null', { status: 200, ...JSON_TYPE, body: 'null' }, 'returned status 200 and a response that is not from sessmgr.'],
  [
    'a number',
    { status: 200, ...JSON_TYPE, body: '7' },
    'returned status 200 and a response that is not from sessmgr.',
  ],
  [
    'an error of its own',
    { status: 404, ...JSON_TYPE, body: '{"error":"nope"}' },
    'returned status 404. Is limiter.router()',
  ],
  ['a wall of its own', { status: 401, ...HTML }, 'returned status 401. Is limiter.router()'],
  ['a broken proxy', { status: 502, ...HTML }, 'GET /api/wp/v2/settings returned status 502.'],
])('an application that answers with %s is said to', async (_what, answer, words) => {
  const page = await openOver(answer)
  await page.getByRole('alert').getByText(words).waitFor()
})

test.each(['/sessions?user=admin', '/activity'])('%s does not break over an answer that is null', async (path) => {
  const page = await openOver({ status: 200, ...JSON_TYPE, body: 'null' }, path, '**/api/sessmgr/**')
  await page.getByRole('alert').getByText('returned status 200 and a response that is not from sessmgr.').waitFor()
  await expect.poll(() => page.getByText('could not be shown').count()).toBe(0)
})

test('a save that is answered with null is one that failed, and keeps the edit', async () => {
  const page = await lab.open(chromium)
  await page.getByLabel('Active Logins Limit').fill('7')
  await page.route('**/wp/v2/settings', (route) => route.fulfill({ status: 200, ...JSON_TYPE, body: 'null' }))
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.locator('.save-bar').getByText('Not saved.').waitFor()
  expect(await page.getByLabel('Active Logins Limit').inputValue()).toBe('7')
})
