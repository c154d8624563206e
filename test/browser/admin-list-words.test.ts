import { beforeEach, expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { deferred } from '../support/deferred.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

test('a search without a hit shows so, and nothing is live before there is any data', async () => {
  const page = await (await host.signIn('admin')).newPage()
  const held = deferred()
  await page.route(/\/v1\/people\?/, async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto(`${host.origin}/admin/sessions`)
  const live = page.locator('.live button')
  await live.waitFor()
  expect(await live.textContent()).toBe('Loading…')
  held.resolve()
  await page.getByRole('button', { name: 'Live' }).waitFor()
  await page.getByRole('combobox').first().fill('zzzz')
  const none = page.getByRole('status').filter({ hasText: 'Nobody is called “zzzz”.' })
  await none.waitFor()
  expect((await none.boundingBox())?.height).toBeGreaterThan(16)
})

test('long login names and email addresses are readable as a whole', async () => {
  const page = await (await host.signIn('admin')).newPage()
  const [login, email] = ['long-login-name'.repeat(6), `${'an-address-'.repeat(9)}@example.test`]
  await page.route(/\/v1\/people\?/, async (route) => {
    const response = await route.fetch()
    if (response.status() !== 200) return route.fulfill({ response })
    const { people, ...rest } = await response.json()
    const [{ user, ...first }] = people
    await route.fulfill({ response, json: { ...rest, people: [{ ...first, user: { ...user, login, email } }] } })
  })
  await page.goto(`${host.origin}/admin/sessions`)
  const names = page.getByText(email).locator('..')
  await names.waitFor()
  expect(await names.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true)
  expect(await names.evaluate((element) => getComputedStyle(element).whiteSpace)).toBe('normal')
  await page.close()
})

test('boxes that are loading have their headings', async () => {
  const page = await (await host.signIn('admin')).newPage()
  const held = deferred()
  await page.route('**/wp/v2/settings', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto(`${host.origin}/admin/settings`)
  for (const title of ['General Settings', 'Force Logout']) await page.locator('.skeleton').getByText(title).waitFor()
  held.resolve()
  await page.getByLabel('Active Logins Limit').waitFor()
})

test('a call that a rate limiter refuses is said to work again at a time', async () => {
  const page = await (await host.signIn('admin')).newPage()
  const headers = { 'Retry-After': '120' }
  await page.route('**/wp/v2/settings', (route) => route.fulfill({ status: 429, headers, body: 'Slow down' }))
  await page.goto(`${host.origin}/admin/settings`)
  await page.getByText(/There were too many requests\. Try again at \d+:\d\d/).waitFor()
})

test('more sessions than the limit are not called a part of it', async () => {
  await host.signIn('admin')
  const page = await host.open('/sessions?user=admin')
  await host.limiter.settings.update({ maximum: 1 })
  await page.reload()
  await page.getByText(/^\d+ sessions, over the limit of 1$/).waitFor()
})

test('a higher limit is named before it is saved', async () => {
  await host.limiter.settings.update({ maximum: 5 })
  const page = await host.open('/settings')
  await page.getByLabel('Active Logins Limit').fill('9')
  await page.getByText('Limit 5 → 9.').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
})
