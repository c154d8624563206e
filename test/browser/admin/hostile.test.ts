import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { startAdminLab } from '../../support/admin-lab.ts'
import { seenBy, startChromium } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { createRestUsers } from '../../support/rest-users.ts'

const SCRIPTS = [
  '<script>ran(1)</script>',
  '<img src=x onerror=ran(2)>',
  '"><svg onload=ran(3)>',
  "';ran(4)//",
  '<iframe srcdoc="<script>parent.ran(5)</script>">',
  '{{constructor.constructor("ran(6)")()}}',
  '</script><script>ran(7)</script>',
]
const HOSTILE = SCRIPTS.join(' ')
const ADDRESSES = [
  'javascript:ran(1)',
  'JaVaScRiPt:ran(2)',
  ' javascript:ran(3)',
  'java\nscript:ran(4)',
  'data:text/html,<script>ran(5)</script>',
  'vbscript:ran(6)',
  '//elsewhere.example/',
  '/\\elsewhere.example/',
  'https:javascript:ran(7)',
  'blob:https://elsewhere.example/1',
]

const seenLinks = (page: Page) =>
  page.locator('a').evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))

const users = createRestUsers()
const rows = ADDRESSES.map((address, index) => ({
  id: index + 1,
  title: HOSTILE,
  description: HOSTILE,
  is_premium: index % 2 === 0,
  is_active: index % 3 === 0,
  is_license_active: index === 0,
  license_key: HOSTILE,
  ...Object.fromEntries(['icon', 'link', 'homepage', 'banner', 'banner_large'].map((name) => [name, address])),
}))
const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() =>
  startAdminLab({
    users,
    host: {
      users: {
        findById: (id) => users.find((user) => user.id === Number(id)),
        findByEmail: () => undefined,
        findByLogin: (login) => users.find((user) => user.login === login),
        summary: ({ id }) => ({ id, login: HOSTILE, display_name: HOSTILE }),
      },
    },
    // The screen must hold whatever the server lets through, so these come past the server's own checks.
    between: (app) => {
      app.get('/api/sessmgr/v1/addons', (_req, res) => void res.json({ items: rows }))
      app.post('/api/sessmgr/v1/addons/:id/license', (_req, res) => {
        res.status(400).json({ code: 'bad', message: HOSTILE, data: { status: 400, params: { key: HOSTILE } } })
      })
      app.post('/api/sessmgr/v1/addons/refresh', (_req, res) => void res.status(502).send(HOSTILE))
    },
  }),
)
beforeAll(() => {
  const { hooks } = lab.limiter
  // Without any, there would be no tab.
  hooks.addFilter('sessmgr_addons_catalog', 'hostile', () => rows as never)
  hooks.addFilter('sessmgr_logics', 'hostile', (all) => ({ ...all, hostile: { label: HOSTILE, desc: HOSTILE } }))
})

async function open(path: string): Promise<Page> {
  const page = await (await lab.visitor(chromium, 'admin', { userAgent: `${HOSTILE} Firefox/140` })).newPage()
  await page.addInitScript(() => Object.assign(window, { ran: (what: unknown) => window.seen.ran.push(what) }))
  await page.goto(`${lab.origin}/admin${path}`)
  return page
}

async function expectNothingRan(page: Page): Promise<void> {
  const { ran, violations } = await seenBy(page)
  expect(ran).toEqual([])
  expect(violations).toEqual([])
}

test('names of users, modes and sessions are texts', async () => {
  const page = await open('/settings?part=force')
  await page.getByLabel('User', { exact: true }).fill('alice')
  await page.getByRole('button', { name: 'Force Logout', exact: true }).click()
  await page.getByText(`${HOSTILE} was not signed in anywhere.`).first().waitFor()
  await expect.poll(() => page.getByText(HOSTILE).count()).toBeGreaterThan(1)
  await expectNothingRan(page)
  await page.goto(`${lab.origin}/admin/sessions?user=admin`)
  await page.getByRole('heading', { name: HOSTILE }).waitFor()
  await expectNothingRan(page)
  await page.goto(`${lab.origin}/admin/sessions?user=${encodeURIComponent(HOSTILE)}`)
  await page.getByText(`Nobody is called “${HOSTILE}”.`).waitFor()
  await page.goto(`${lab.origin}/admin/${encodeURIComponent('<img src=x onerror=ran(8)>')}`)
  await page.getByText('There is no “<img src=x onerror=ran(8)>” section here').waitFor()
  await expectNothingRan(page)
})

test('rows of the catalogue and messages of the server are texts, and none of their addresses becomes a link or a picture', async () => {
  const page = await open('/addons')
  await page.getByRole('heading', { level: 3 }).first().waitFor()
  await expect.poll(() => page.getByRole('heading', { level: 3 }).count()).toBe(ADDRESSES.length)
  await expect.poll(() => page.getByText(HOSTILE).count()).toBeGreaterThanOrEqual(2 * ADDRESSES.length)
  const links = await seenLinks(page)
  expect(links.length).toBeGreaterThan(3)
  expect(links.filter((href) => !href.startsWith(`${lab.origin}/admin`))).toEqual([])
  await expect.poll(() => page.locator('main img').count()).toBe(0)
  await expectNothingRan(page)

  await page.getByRole('button', { name: 'Refresh Add-ons' }).click()
  await page.getByText('Could not refresh the add-ons list.').first().waitFor()
  const dialog = page.getByRole('dialog')
  const field = dialog.getByLabel('License Key')
  await page.getByRole('button', { name: /^Manage License/ }).click()
  await dialog.getByText(`${HOSTILE.slice(0, 4)}…${HOSTILE.slice(-4)}`).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Activate License/ }).click()
  await field.fill(HOSTILE)
  await dialog.getByRole('button', { name: 'Activate', exact: true }).click()
  await dialog.locator('.problem').getByText(HOSTILE).waitFor()
  await expectNothingRan(page)
})

test('the policy would hold even if a script got into the page', async () => {
  const page = await open('/settings')
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'ran("inline")'
    document.body.append(script)
    document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="ran(1)"><p style="color: red">styled</p>')
  })
  const { ran, violations } = await seenBy(page)
  expect(ran).toEqual([])
  expect(violations.map((one) => one.split(' ')[0]).sort()).toEqual([
    'script-src-attr',
    'script-src-elem',
    'style-src-attr',
  ])
})
