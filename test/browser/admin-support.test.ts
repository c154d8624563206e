import { expect, test } from 'vitest'
import { addonsLab, installFirst } from '../support/admin-addons.ts'
import { PICTURES } from '../support/admin-host.ts'
import { startAdminLab } from '../support/admin-lab.ts'
import { seenBy, startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const { vendor, options } = addonsLab()
const chromium = await forThisFile(startChromium())
const support = { docs: '/help', contact: 'mailto:help@example.test' }
const shop = await forThisFile(startAdminLab({ ...options, admin: { support } }))
const plain = await forThisFile(startAdminLab())

test('the banner for add-ons is there while there is something to buy, and only then', async () => {
  const page = await shop.open(chromium)
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
  expect(await page.getByText('Need finer control?').count()).toBe(0)
})

test('the banner is not there without a licensing provider', async () => {
  const page = await (await plain.visitor(chromium, 'admin')).newPage()
  const asked = page.waitForResponse('**/sessmgr/v1/addons')
  await page.goto(`${plain.origin}/admin`)
  await asked
  await page.getByRole('heading', { name: 'Force Logout' }).waitFor()
  await seenBy(page)
  expect(await page.getByText('Need finer control?').count()).toBe(0)
})

test('the tab Support links to where the application says that there is help, and nowhere else', async () => {
  const page = await shop.open(chromium, '/support')
  const panel = page.getByRole('region', { name: 'More help' })
  const links = await panel.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  expect(links).toEqual(['/help', 'mailto:help@example.test'])
  await page.screenshot({ path: `${PICTURES}admin-support-links.png` })
  const other = await plain.open(chromium, '/support')
  await other.getByRole('heading', { name: 'Questions and answers' }).waitFor()
  expect(await other.getByRole('region', { name: 'More help' }).count()).toBe(0)
})

test('the report for a support request says what runs where, with which settings and add-ons, and no names', async () => {
  const lab = await startAdminLab({ ...options, sessmgr: { ...options.sessmgr, settings: { maximum: 4 } } })
  installFirst(lab.limiter)
  const page = await lab.open(chromium, '/support')
  const report = page.locator('.report')
  await expect.poll(() => report.textContent()).toMatch(/Settings: .*\bmaximum 4\b.*\nAdd-ons: 11 \(not licensed\)\n/)
  expect(await report.textContent()).toContain(`Node.js: ${process.versions.node}\n`)
  expect(await report.textContent()).not.toMatch(/admin@|example\.test/)
  await page.screenshot({ path: `${PICTURES}admin-support-report.png` })
  await lab.close()
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
  const page = await lab.open(chromium)
  await page.getByText('Need finer control?').waitFor()
  await lab.close()
})
