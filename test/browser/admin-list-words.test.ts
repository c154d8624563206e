import { expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { deferred } from '../support/deferred.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = await forThisFile(startAdminHost())

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
