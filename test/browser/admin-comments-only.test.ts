import { beforeEach, expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

/** Gives the lazy comments to whoever is asked for while this holds. */
function open(verdict: (hasAccess: boolean) => boolean): () => void {
  return host.limiter.hooks.addFilter('lazycomments_has_access', 'test', verdict)
}

test('who may manage only the comments sees only that tab, saves there, and reads nothing else', async () => {
  const close = open(() => true)
  const page = await (await host.signIn('alice')).newPage()
  await page.goto(`${host.origin}/admin`)
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Comments'])
  await page.getByRole('switch', { name: 'Show loading spinner' }).click()
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Settings saved.').first().waitFor()
  await page.getByRole('button', { name: 'Clear comments cache' }).click()
  await page.getByText('The comments cache has been cleared.').first().waitFor()

  const answers = await page.evaluate(async () => {
    const { restNonce } = (window as unknown as { sessmgr: { restNonce: string } }).sessmgr
    const headers = { 'X-HOST-Nonce': restNonce, 'Content-Type': 'application/json' }
    const call = (method: string, path: string, body?: object) =>
      fetch(`/api/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const read = (await (await call('GET', 'wp/v2/settings')).json()) as object
    const both = { sessmgr_settings: { maximum: 1 }, lazycomments_settings: { minimum_count: 9 } }
    return [
      Object.keys(read),
      (await call('POST', 'wp/v2/settings', both)).status,
      (await call('GET', 'wp/v2/settings/sessmgr_settings')).status,
      (await call('GET', 'wp/v2/settings/lazycomments_settings')).status,
      (await call('GET', 'sessmgr/v1/sessions?user=admin')).status,
    ]
  })
  expect(answers).toEqual([['lazycomments_settings'], 403, 403, 200, 403])
  expect(await host.limiter.settings.get()).toMatchObject({ maximum: 5 })
  expect(await host.limiter.comments?.settings.all()).toMatchObject({ show_loader: false, minimum_count: 1 })

  await page.goto(`${host.origin}/admin/settings`)
  await page.getByText('There is no “settings” section here').waitFor()
  close()
  expect((await page.goto(`${host.origin}/admin`))?.status()).toBe(403)
})

test('an administrator who may not manage the comments does not see that tab, and cannot change them', async () => {
  const close = open(() => false)
  const page = await host.open()
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  expect(await page.getByRole('navigation').getByRole('link').allTextContents()).not.toContain('Comments')
  const status = await page.evaluate(async () => {
    const { restNonce } = (window as unknown as { sessmgr: { restNonce: string } }).sessmgr
    const headers = { 'X-HOST-Nonce': restNonce, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ lazycomments_settings: { minimum_count: 9 } })
    return (await fetch('/api/wp/v2/settings', { method: 'POST', headers, body })).status
  })
  expect(status).toBe(403)
  await page.getByLabel('Active Logins Limit').fill('6')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Settings saved.').first().waitFor()
  close()
})
