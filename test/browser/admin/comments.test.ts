import { beforeEach, expect, test } from 'vitest'
import { startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())
const bare = forThisFile(() => startAdminLab())
beforeEach(() => host.reset())

test('all eight settings are edited and saved in one call, and the cache is cleared', async () => {
  const { cache } = host.limiter.comments ?? {}
  await cache?.set(1, '<!-- wp:comments /-->')
  const page = await host.open('/comments')
  await page.getByRole('button', { name: 'Clear comments cache' }).click()
  await page.getByText('The comments cache has been cleared.').first().waitFor()
  expect(await cache?.get(1)).toBe(false)
  await page.getByRole('radio', { name: 'On button click' }).click()
  await page.getByLabel('Minimum comments').fill('4')
  await page.getByRole('switch', { name: 'Show loading spinner' }).click()
  await page.getByRole('switch', { name: 'Disable for search engines' }).click()
  await page.getByLabel('Button text').fill('  Read   <b>on</b> ')
  await page.getByRole('radio', { name: 'Plugin style' }).click()
  await page.getByLabel('Extra CSS classes').fill('big "red"')
  await page.getByRole('switch', { name: 'Store comments markup in cache' }).click()
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  expect(Object.keys((await sent).postDataJSON())).toEqual(['lazycomments_settings'])
  await page.getByText('Settings saved.').first().waitFor()
  expect(await host.limiter.comments?.settings.all()).toEqual({
    load_method: 'click',
    button_text: 'Read on',
    button_style: 'custom',
    button_class: 'big red',
    show_loader: false,
    minimum_count: 4,
    disable_for_bots: false,
    cache_enabled: false,
  })
  // What the server has repaired is what the fields show.
  expect(await page.getByLabel('Button text').inputValue()).toBe('Read on')
  await expect.poll(() => page.getByRole('button', { name: 'Save Changes' }).count()).toBe(0)
})

test('without posts in the application there is no such tab, and its address says so', async () => {
  const page = await bare.open(host.chromium, '/comments')
  await page.getByText('There is no “comments” section here').waitFor()
  const tabs = await page.getByRole('navigation').getByRole('link').allTextContents()
  expect(tabs).toEqual(['Sessions', 'Activity', 'Settings', 'Support'])
  await page.getByRole('button', { name: 'Go to Sessions' }).click()
  await page.getByRole('heading', { name: 'Sessions', exact: true, level: 2 }).waitFor()
})

test('who may manage only the comments has only that tab, and who may not has the others', async () => {
  let remove = host.limiter.hooks.addFilter('lazycomments_has_access', 'test', () => true)
  const page = await (await host.signIn('alice')).newPage()
  await page.goto(`${host.origin}/admin`)
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Comments'])
  await page.getByLabel('Minimum comments').fill('5')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Settings saved.').first().waitFor()
  expect(await host.limiter.comments?.settings.all()).toMatchObject({ minimum_count: 5 })
  await page.goto(`${host.origin}/admin/settings`)
  await page.getByText('There is no “settings” section here').waitFor()
  remove()
  expect((await page.goto(`${host.origin}/admin`))?.status()).toBe(403)

  remove = host.limiter.hooks.addFilter('lazycomments_has_access', 'test', () => false)
  const other = await host.open()
  await other.getByLabel('Active Logins Limit').fill('6')
  expect(await other.getByRole('navigation').getByRole('link').allTextContents()).not.toContain('Comments')
  await other.getByRole('button', { name: 'Save Changes' }).click()
  await other.getByText('Settings saved.').first().waitFor()
  remove()
})
