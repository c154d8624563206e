import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Chromium, seenBy, startChromium, watch } from '../support/chromium.ts'
import { ExampleProcess } from '../support/example-process.ts'

let chromium: Chromium
let example: ExampleProcess
beforeAll(async () => {
  chromium = await startChromium()
  example = await ExampleProcess.start({ SESSMGR_MAXIMUM: '3' })
})
afterAll(async () => {
  await chromium?.close()
  await example?.stop()
})

test('the built package serves the screen: a setting is changed and a user signed out', async () => {
  const alice = await example.signedIn('alice')
  const context = await chromium.visitor()
  await watch(context)
  const page = await context.newPage()
  await page.goto(`${example.origin}/admin`)
  expect(new URL(page.url()).pathname).toBe('/login')
  await page.getByLabel('User name or e-mail').fill('admin')
  await page.getByLabel('Password').fill('admin-password')
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
  await page.goto(`${example.origin}/admin/settings`)
  await page.getByLabel('Active Logins Limit').fill('2')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Settings saved.').first().waitFor()
  await page.getByRole('link', { name: 'Force Logout' }).click()
  await page.getByLabel('User', { exact: true }).fill('alice')
  await page.getByRole('button', { name: 'Force Logout', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('Alice is signed out everywhere.').first().waitFor()
  expect(example.actions('sessmgr_destroy_all_sessions')).toMatchObject([{ args: [2] }])
  expect((await alice.get('/me')).status).toBe(401)
  await page.reload()
  await expect.poll(() => page.getByLabel('Active Logins Limit').inputValue()).toBe('2')
  expect((await seenBy(page)).violations).toEqual([])
})
