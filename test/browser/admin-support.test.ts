import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addonsLab, installFirst } from '../support/admin-addons.ts'
import { PICTURES } from '../support/admin-host.ts'
import { startAdminLab } from '../support/admin-lab.ts'
import { seenBy, startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const { vendor, options } = addonsLab()
const chromium = forThisFile(() => startChromium())
const support = { docs: '/help', contact: 'mailto:help@example.test' }
const shop = forThisFile(() => startAdminLab({ ...options, admin: { support } }))
const plain = forThisFile(() => startAdminLab())

test('the banner for add-ons is there while there is something to buy, and only then', async () => {
  const page = await shop.open(chromium, '/settings?part=force')
  await page.getByText('Need finer control?').waitFor()
  for (const id of [11, 12]) {
    shop.limiter.hooks.addFilter('sessmgr_register_addon', `own-${id}`, (addons) => ({
      ...addons,
      [id]: { slug: `own-${id}`, is_premium: true, main_file: 'a.js', public_key: 'pk' },
    }))
    await shop.limiter.addons.activate(id, await vendor.issue(id))
  }
  const asked = page.waitForResponse('**/sessmgr/v1/addons')
  await page.reload()
  await asked
  await page.getByRole('heading', { name: 'Force Logout' }).waitFor()
  await seenBy(page)
  await expect.poll(() => page.getByText('Need finer control?').count()).toBe(0)
})

test('the banner is not there without a licensing provider', async () => {
  const page = await (await plain.visitor(chromium, 'admin')).newPage()
  const asked = page.waitForResponse('**/sessmgr/v1/addons')
  await page.goto(`${plain.origin}/admin/settings?part=force`)
  await asked
  await page.getByRole('heading', { name: 'Force Logout' }).waitFor()
  await seenBy(page)
  await expect.poll(() => page.getByText('Need finer control?').count()).toBe(0)
})

test('the tab Support links to where the application says that there is help, and nowhere else', async () => {
  const page = await shop.open(chromium, '/support')
  const panel = page.getByRole('region', { name: 'More help' })
  const links = await panel.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  expect(links).toEqual(['/help', 'mailto:help@example.test'])
  await page.screenshot({ path: `${PICTURES}admin-support-links.png` })
  const other = await plain.open(chromium, '/support')
  const bare = other.getByRole('region', { name: 'More help' })
  await bare.getByText('is in the node_modules/sessmgr/docs folder').waitFor()
  await expect.poll(() => bare.getByRole('link').count()).toBe(0)
})

test('the report for a support request says what runs where, with which settings and add-ons, and no names', async () => {
  const lab = await startAdminLab({ ...options, sessmgr: { ...options.sessmgr, settings: { maximum: 4 } } })
  installFirst(lab.limiter)
  const page = await lab.open(chromium, '/support')
  const report = page.locator('.report')
  await expect.poll(() => report.textContent()).toMatch(/Settings: .*\bmaximum 4\b.*\nAdd-ons: 11 \(not licensed\)\n/)
  const text = (await report.textContent()) ?? ''
  expect(text).toContain(`Node.js: ${process.versions.node}\nSystem: ${process.platform} ${process.arch}\n`)
  expect(text).toContain('Store: memory (of one process)\n')
  expect(text).toMatch(/Options: directory (on|off), audit process\nSigned in: /)
  expect(text).not.toMatch(/admin@|example\.test/)
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as a file' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('sessmgr-report.txt')
  expect(readFileSync(await saved.path(), 'utf8')).toBe(`${text}\n`)
  await page.screenshot({ path: `${PICTURES}admin-support-report.png` })
  await lab.close()
})

test('the report says what the browser knows while the server cannot report', async () => {
  const page = await (await plain.visitor(chromium, 'admin')).newPage()
  await page.route('**/sessmgr/v1/support', (route) => route.fulfill({ status: 404, body: 'no' }))
  await page.goto(`${plain.origin}/admin/support`)
  await page.getByText('Server: no report').waitFor()
  expect(await page.locator('.report').textContent()).toMatch(/^Session Manager \d[\s\S]*\nBrowser: Mozilla/)
})

test('the page brings its own icon: nobody is asked for a favicon.ico', async () => {
  const page = await shop.open(chromium, '/support')
  await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
  const loaded = await page.evaluate(async () => {
    const icon = new Image()
    icon.src = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? ''
    await icon.decode()
    return icon.naturalWidth
  })
  expect(loaded).toBeGreaterThan(0)
  expect((await seenBy(page)).violations).toEqual([])
})

test('an add-on that is installed and not licensed is something to buy', async () => {
  const lab = await startAdminLab(options)
  installFirst(lab.limiter)
  const page = await lab.open(chromium, '/settings?part=force')
  await page.getByText('Need finer control?').waitFor()
  await lab.close()
})
