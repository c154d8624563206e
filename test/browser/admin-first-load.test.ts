import { expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { seenBy } from '../support/chromium.ts'
import { deferred } from '../support/deferred.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())

test.each([
  ['/sessions', 'Sessions', 'people-page'],
  ['/sessions?user=admin', 'Admin', 'person-page'],
  ['/settings', 'General Settings', 'settings-tab'],
  ['/comments', 'Loading behavior', 'comments-tab'],
  ['/support', 'Questions and answers', 'support-tab'],
])('the page of %s starts all that it needs before the script runs', async (path, heading, module) => {
  const page = await (await host.signIn('admin')).newPage()
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
  expect(called.sort()).toEqual(calls.sort())
  expect((await seenBy(page)).violations).toEqual([])
})

test('the code of other tabs is loaded only when the open one has its data', async () => {
  const page = await (await host.signIn('admin')).newPage()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const others = () => asked.filter((path) => /(addons|comments|support)-tab/.test(path)).length
  const held = deferred()
  await page.route('**/wp/v2/settings', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto(`${host.origin}/admin/settings`, { waitUntil: 'load' })
  for (const _ of [1, 2, 3]) await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)))
  expect(others()).toBe(0)
  held.resolve()
  await page.getByLabel('Active Logins Limit').waitFor()
  await expect.poll(others, { timeout: 20_000 }).toBe(3)
})
