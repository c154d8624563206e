import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PICTURES, startAdminHost } from '../../support/admin-host.ts'
import { hold, seenBy } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())

test('name and tabs are there before the script, and nothing moves when it and the options come', async () => {
  const page = await (await host.signIn('admin')).newPage()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const others = () => asked.filter((path) => /(addons|comments|support)-tab.*js$/.test(path)).length
  const releaseScript = await hold(page, '**/assets/*.js')
  const releaseOptions = await hold(page, '**/wp/v2/settings')
  await page.goto(`${host.origin}/admin/settings`, { waitUntil: 'commit' })
  const tabs = page.getByRole('navigation', { name: 'Sections' }).getByRole('link')
  await page.getByRole('heading', { name: 'Session Manager' }).waitFor()
  const names = ['Sessions', 'Activity', 'Settings', 'Comments', 'Add-ons', 'Support']
  const places = () => tabs.evaluateAll((all) => all.map((link) => [link.textContent, link.getBoundingClientRect().x]))
  // A picture waits for the style sheets.
  await page.screenshot({ path: `${PICTURES}admin-first-paint.png` })
  const before = await places()
  expect(before.map(([name]) => name)).toEqual(names)
  expect(await page.locator('.tabs [aria-current=page]').textContent()).toBe('Settings')
  releaseScript()
  await page.getByText('Skip to the content').waitFor({ state: 'attached' })
  expect(await places()).toEqual(before)
  releaseOptions()
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  expect(await places()).toEqual(before)
  await expect.poll(() => page.getByRole('main').count()).toBe(1)
  const { shift, violations } = await seenBy(page)
  expect(violations).toEqual([])
  expect(shift).toBeLessThan(0.01)
  // The code of another tab is loaded when its link is pointed at or focused.
  expect(others()).toBe(0)
  await tabs.filter({ hasText: 'Support' }).hover()
  await expect.poll(others).toBe(1)
  await tabs.filter({ hasText: 'Add-ons' }).focus()
  await expect.poll(others).toBe(2)
})

test('each page starts all that it needs before the script runs, once', async () => {
  const context = await host.signIn('admin')
  for (const [path, heading, module] of [
    ['/sessions', 'Sessions', 'people-page'],
    ['/sessions?user=admin', 'Admin', 'person-page'],
    ['/settings', 'General Settings', 'settings-tab'],
    ['/comments', 'Loading behavior', 'comments-tab'],
    ['/support', 'Questions and answers', 'support-tab'],
  ] as const) {
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname + new URL(request.url()).search))
    const response = await page.goto(`${host.origin}/admin${path}`)
    await page.getByRole('heading', { name: heading }).first().waitFor()
    const text = (await response?.text()) ?? ''
    const files = [...text.matchAll(/(?:href|src)="[^"]+\/assets\/([^"]+)"/g)].map(([, name = '']) => name)
    expect(files.some((name) => name.startsWith(module))).toBe(true)
    expect(new Set(files).size).toBe(files.length)
    // The screen takes what the page has asked for, and does not ask again.
    const calls = JSON.parse(/new Map\((\[.*?\])\.map/.exec(text)?.[1] ?? 'null') as string[]
    const called = asked.flatMap((url) => calls.filter((call) => url.endsWith(`/${call}`)))
    expect(called.sort(), path).toEqual(calls.sort())
    expect((await seenBy(page)).violations).toEqual([])
    await page.close()
  }
})

const MISSING =
  /^The files of this page did not load from \/admin\/assets\/[\w-]+\.js\. Check `path` in limiter\.admin\(\)\.$/

test('behind a proxy that removes a prefix, the page says that its files are missing', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.route('**/app/**', async (route) => {
    const url = route.request().url().replace('/app/', '/')
    await route.fulfill({ response: await route.fetch({ url }) })
  })
  // What is outside the prefix belongs to another application.
  await page.route(`${host.origin}/admin/assets/**`, (route) => route.fulfill({ status: 404, body: 'not here' }))
  await page.goto(`${host.origin}/app/admin/sessions`)
  await page.getByRole('status').getByText(MISSING).waitFor()
  await expect.poll(() => page.getByText('Loading…').count()).toBe(0)
  expect((await seenBy(page)).violations).toEqual([])
})

test('if its script does not arrive in time, the page says so, and the screen still appears once it does', async () => {
  const page = await (await host.signIn('admin')).newPage()
  await page.clock.install()
  const release = await hold(page, '**/admin/assets/*.js')
  await page.goto(`${host.origin}/admin/sessions`, { waitUntil: 'commit' })
  const missing = page.getByRole('status').getByText(MISSING)
  await page.getByText('Loading…').waitFor({ state: 'attached' })
  // The clock also goes on by itself, for as long as a slow machine takes.
  await page.clock.runFor(4_000)
  await expect.poll(() => missing.count()).toBe(0)
  await page.clock.runFor(6_500)
  await missing.waitFor()
  release()
  await page.clock.resume()
  await page.getByRole('button', { name: 'Live' }).waitFor()
  await expect.poll(() => missing.count()).toBe(0)
})

const FILE = '**/assets/{comments-tab,activity-page}*'
const LOST = 'A file of this page did not load. Check your connection and try again.'

/** Opens the settings while the files of two other tabs do not load. */
async function openWithoutFiles(): Promise<Page> {
  const page = await (await host.signIn('admin')).newPage()
  await page.route(FILE, (route) => route.fulfill({ status: 503 }))
  await page.goto(`${host.origin}/admin/settings`)
  await page.getByLabel('Active Logins Limit').waitFor()
  await page.evaluate('window.isSamePage = true')
  return page
}

test('a tab whose file did not load opens once its file can be loaded, and blames no add-on meanwhile', async () => {
  const page = await openWithoutFiles()
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Comments', exact: true }).click()
  const lost = page.getByRole('alert').filter({ hasText: LOST })
  await lost.waitFor()
  await expect.poll(() => page.getByText(/add-on/).count()).toBe(0)
  const again = page.getByRole('button', { name: 'Try again' })
  await again.click()
  await lost.waitFor()
  await page.unroute(FILE)
  await page.context().setOffline(false)
  await again.click()
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  await page.getByRole('link', { name: 'Activity', exact: true }).click()
  const card = page.locator('.event-table')
  await card.waitFor()
  expect(await page.evaluate('window.isSamePage')).toBe(true)
  // Its rules have come as well.
  await expect.poll(() => card.evaluate((list) => getComputedStyle(list).getPropertyValue('--columns'))).not.toBe('')
})

test('a file that the server no longer has is found again by reloading the page', async () => {
  const page = await openWithoutFiles()
  await page.getByRole('link', { name: 'Comments', exact: true }).click()
  await page.getByText(LOST).waitFor()
  const isReload = page.waitForRequest((request) => request.isNavigationRequest())
  await page.getByRole('button', { name: 'Try again' }).click()
  await isReload
  await page.unroute(FILE)
  await page.reload()
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  expect(await page.evaluate('window.isSamePage')).toBe(undefined)
})
