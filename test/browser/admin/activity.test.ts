import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { type AdminLab, startAdminLab } from '../../support/admin-lab.ts'
import { hold, seenBy, startChromium } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { AGENTS } from '../../support/user-agents.ts'

const PHONE = AGENTS.iphone

const chromium = forThisFile(() => startChromium())
let lab: AdminLab
beforeEach(async () => {
  const location = (ip: string) => (ip === '127.0.0.1' ? 'Here' : undefined)
  lab = await startAdminLab({ host: { location }, sessmgr: { settings: { maximum: 2, logic: 'logout_oldest' } } })
  return () => lab.close()
})

const signIn = (login: string) => fetch(`${lab.origin}/sign-in/${login}`, { headers: { 'user-agent': PHONE } })

/** Opens the tab, and returns what stands in each row. */
async function open(query = '') {
  const page = await lab.open(chromium, `/activity${query}`)
  const rows = async () => (await page.locator('[data-row]').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  return { page, rows }
}

const poll = (page: Page) => page.clock.runFor(10_100)

test('every kind of event says who did what, where and when', async () => {
  for (let login = 0; login < 3; login++) await signIn('alice')
  await lab.limiter.settings.update({ logic: 'block' }, undefined)
  await signIn('alice')
  await lab.limiter.sessions.endAll(2, { by: 'admin', actor: 1, note: 'Lost phone' })
  const { id } = await lab.limiter.passwords.create(2, 'backup')
  await lab.limiter.passwords.revoke(2, id)
  await lab.limiter.sessions.logoutAllUsers()
  const { page, rows } = await open('?user=alice')
  await page.getByText('Refused: limit reached').waitFor()
  const texts = (await rows()).join('\n')
  expect(texts).toContain('ALICE Signed in Safari on iPhone Here')
  // A login and the session that it ended are one row.
  expect(texts).toContain('ALICE Signed in signed out Safari on iPhone, Here Safari on iPhone Here')
  expect(texts).toContain('ALICE Signed out – Lost phone by ADMIN Safari on iPhone Here')
  expect(texts).toContain('ALICE Application password “backup” created by the application')
  expect(texts).toContain('ALICE Application password “backup” revoked by the application')
  const find = page.getByRole('combobox', { name: 'Find a user' })
  await find.fill('')
  await page.keyboard.press('Enter')
  await page.getByText('Login Logic: Logout Oldest → Block New').waitFor()
  await page.getByText('Everyone was signed out').waitFor()
  await page.getByText('Only the last events of this process are kept.').waitFor()
  expect((await seenBy(page)).violations).toEqual([])
  // A user without a session has a line that says when and why the last one ended.
  await signIn('bob')
  await lab.limiter.sessions.endAll(3, { by: 'admin', actor: 1 })
  await page.goto(`${lab.origin}/admin/sessions?user=bob`)
  await page.getByText('Signed out by ADMIN, now.').waitFor()
  expect(await page.getByText('Everyone was signed out').count()).toBe(0)
  await lab.limiter.sessions.logoutAllUsers()
  const later = await lab.open(chromium, '/sessions?user=bob')
  await later.getByText('Everyone was signed out by the application, now.').waitFor()
  await later.getByText('Signed out by ADMIN, now.').waitFor()
})

test('the filters are in the URL, and say so if nothing matches', async () => {
  await signIn('alice')
  const { page, rows } = await open()
  await page.getByRole('gridcell', { name: 'ALICE' }).waitFor()
  await page.getByLabel('What to show').selectOption('Refused logins')
  await page.getByText('Nothing matches').waitFor()
  expect(new URL(page.url()).search).toBe('?type=login.refused')
  await page.goBack()
  await page.getByRole('gridcell', { name: 'ALICE' }).waitFor()
  const find = page.getByRole('combobox', { name: 'Find a user' })
  await find.fill('admin')
  await find.press('Enter')
  await expect.poll(async () => (await rows()).length).toBe(1)
  expect(new URL(page.url()).search).toBe('?user=admin')
  await find.fill('nobodyx')
  await find.press('Enter')
  await page.getByText('Nobody is called “nobodyx”.').waitFor()
  await find.fill('127.0.0.1')
  await find.press('Enter')
  await expect.poll(async () => (await rows()).length).toBe(2)
  expect(new URL(page.url()).search).toBe('?ip=127.0.0.1')
  await page.getByRole('gridcell', { name: 'ALICE' }).getByRole('link').click()
  await page.getByRole('heading', { name: 'ALICE', level: 2 }).waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/admin/sessions?user=alice')

  // A period within the log does not speak of its start.
  await page.route('**/audit?*', async (route) => {
    const response = await route.fetch()
    if (response.status() !== 200) return route.fulfill({ response })
    return route.fulfill({ response, json: { ...(await response.json()), since: 0 } })
  })
  await page.goto(`${lab.origin}/admin/activity?period=today`)
  await page.getByText(/^That is all\.\s*(Only .*)?$/).waitFor()
  await page.getByRole('link', { name: 'Yesterday' }).click()
  await page.getByText(/^Nothing matches$/).waitFor()
})

test('new events wait behind a line, an unchanged list is not sent again, and the focus and the rows stay', async () => {
  const context = await lab.visitor(chromium, 'admin')
  const page = await context.newPage()
  await page.clock.install()
  await page.goto(`${lab.origin}/admin/activity`)
  await page.getByRole('gridcell', { name: 'ADMIN' }).first().waitFor()
  const unchanged = page.waitForResponse((response) => response.url().includes('/audit?'))
  await poll(page)
  expect((await unchanged).status()).toBe(304)
  const before = await page.locator('[data-row]').count()
  await signIn('alice')
  await poll(page)
  const news = page.getByRole('button', { name: '1 new event · show' })
  await news.waitFor()
  await expect.poll(() => page.locator('[data-row]').count()).toBe(before)
  await poll(page)
  await news.click()
  await page.getByRole('gridcell', { name: 'ALICE' }).waitFor()
  await expect.poll(() => page.locator('[data-row]').count()).toBe(before + 1)
  await expect.poll(() => news.count()).toBe(0)
})

test.each([-1, 1])('with a clock that is %s day off, times and periods are those of the server', async (days) => {
  await signIn('alice')
  const today = new Date().toLocaleDateString('en', { month: 'long', day: 'numeric' })
  const page = await (await lab.visitor(chromium, 'admin')).newPage()
  await page.clock.install({ time: Date.now() + days * 86_400_000 })
  await page.goto(`${lab.origin}/admin/activity?period=today`)
  await page.getByRole('gridcell', { name: 'ALICE' }).waitFor()
  expect(await page.locator('.day').textContent()).toContain(`Today, ${today}`)
  await page.getByRole('slider', { name: 'in 2,' }).waitFor()
  await page.getByRole('link', { name: 'Yesterday' }).click()
  await page.getByText(/^Nothing matches$/).waitFor()
  await page.goto(`${lab.origin}/admin/sessions?user=alice`)
  await expect.poll(() => page.locator('td.cell-used time').first().textContent()).toMatch(/^(now|[12] minutes? ago)$/)
  await page.getByText('1 address in the last 24 hours').waitFor()
  await page.route('**/api/**', (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '60' } }))
  await poll(page)
  const state = page.locator('.live [role=status]')
  await expect.poll(() => state.textContent()).toContain(`Last update ${today.slice(0, 3)}`)
  expect(await state.textContent()).toContain(` ${today.split(' ')[1]}, `)
})

test('earlier events come on demand, and all of them can be saved', async () => {
  for (let login = 0; login < 60; login++) await signIn('bob')
  const { page, rows } = await open('?type=session.started&user=bob')
  await expect.poll(async () => (await rows()).length).toBe(50)
  await page.getByRole('button', { name: 'Show 50 more' }).click()
  await expect.poll(async () => (await rows()).length).toBe(60)
  await page.getByText('That is all. The log starts on').waitFor()
  expect(new URL(page.url()).searchParams.get('rows')).toBe('100')
  await page.reload()
  await expect.poll(async () => (await rows()).length).toBe(60)
  await page.getByRole('link', { name: 'Yesterday' }).click()
  await page.getByText('Nothing matches').waitFor()
  await page.getByRole('link', { name: 'Today' }).click()
  await page.getByText(/^Today, .*60 events|^Today, /).waitFor()
  const today = await page.evaluate(() => new Date().toLocaleDateString('sv'))
  await page.getByRole('button', { name: 'Export…' }).click()
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'CSV (spreadsheet)' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe(`activity-bob-session.started-${today}.csv`)
  const [head = '', ...lines] = readFileSync(await saved.path(), 'utf8')
    .trim()
    .split('\r\n')
  expect([lines.length, lines[0]?.split(',')[head.split(',').indexOf('place')]]).toEqual([60, 'Here'])
})

test('days and times are those of the reader', async () => {
  await signIn('alice')
  for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    const page = await lab.open(chromium, '/activity?user=alice', { timezoneId: timeZone })
    const time = page.locator('.event-when time').first()
    const at = new Date((await time.getAttribute('datetime')) ?? '')
    const local = (options: Intl.DateTimeFormatOptions) => at.toLocaleString('en', { timeZone, ...options })
    const plain = (text: string | null) => text?.replace(/\s/g, ' ')
    expect(plain(await time.textContent())).toBe(plain(local({ hour: 'numeric', minute: '2-digit' })))
    expect(await time.getAttribute('title')).toContain(local({ timeZoneName: 'short' }).split(' ').at(-1))
    const day = await page.locator('.day').first().textContent()
    expect(day).toContain(`Today, ${local({ day: 'numeric', month: 'long' })}`)
    await page.getByRole('link', { name: 'Yesterday' }).click()
    await page.getByText('Nothing matches').waitFor()
  }
})

test('bars and a ranking say when and who was at the limit, and dragging over bars chooses their time', async () => {
  await lab.limiter.settings.update({ logic: 'logout_oldest', maximum: 1 }, undefined)
  for (const login of ['dora', 'dora', 'dora', 'bob', 'bob']) await signIn(login)
  await lab.limiter.settings.update({ logic: 'block' }, undefined)
  await signIn('bob')
  const { page, rows } = await open('?period=today')
  const ranking = page.locator('.ranking')
  const dora = ranking.getByRole('listitem').filter({ hasText: 'DORA' })
  await dora.getByText('2 displaced').waitFor()
  await ranking.getByRole('listitem').filter({ hasText: 'BOB' }).getByText('1 displaced, 1 refused').waitFor()
  const bars = page.getByRole('slider', { name: /^in \d+, out \d+, refused \d+$/ })
  expect((await seenBy(page)).violations).toEqual([])
  const box = await bars.boundingBox()
  if (!box) throw new Error('There are no bars.')
  // The newest events are in the last bar.
  await page.mouse.move(box.x + box.width - 60, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 3 })
  await page.mouse.up()
  await expect.poll(() => new URL(page.url()).search).toMatch(/^\?from=\d+&to=\d+$/)
  await expect.poll(async () => (await rows()).join('\n')).toContain('BOB Refused: limit reached')
  const chosen = page.getByRole('button', { pressed: true })
  const { searchParams } = new URL(page.url())
  const earlier = String(Number(searchParams.get('from')) - 60 * 60_000)
  await page.goto(`${lab.origin}/admin/activity?from=${earlier}&to=${searchParams.get('from')}`)
  await page.getByText('Nobody was at the limit.').waitFor()
  // Without a mouse, the arrow keys say what each bar holds, and Enter chooses its time.
  await bars.focus()
  for (const key of ['Home', 'ArrowRight', 'ArrowRight', 'ArrowLeft']) await page.keyboard.press(key)
  expect(await bars.getAttribute('aria-valuetext')).toMatch(/ [–-] .+: in 0, out 0, refused 0$/)
  await page.keyboard.press('Enter')
  const second = Number(earlier) + 60_000
  await expect.poll(() => new URL(page.url()).search).toBe(`?from=${second}&to=${second + 60_000}`)
  // The bar that was reached is not beyond the end of the new period.
  await expect.poll(() => bars.getAttribute('aria-valuemax')).toBe('0')
  expect(await bars.getAttribute('aria-valuenow')).toBe('0')
  // Counts of another period do not stay below the new one.
  const release = await hold(page, '**/audit/counts?*')
  await page.getByRole('link', { name: 'Yesterday' }).click()
  const summary = page.locator('.summary')
  await expect.poll(() => summary.evaluate((element) => getComputedStyle(element).opacity)).toBe('0')
  release()
  await expect.poll(() => summary.evaluate((element) => getComputedStyle(element).opacity)).toBe('1')
  await page.goBack()
  await expect.poll(() => new URL(page.url()).search).toBe(`?from=${second}&to=${second + 60_000}`)
  await page.goBack()
  // Two fields choose any time: an hour from the first one, unless it is changed.
  await chosen.click()
  const to = page.getByLabel('To', { exact: true })
  const show = page.getByRole('button', { name: 'Show', exact: true })
  await to.fill('')
  await page.getByLabel('From', { exact: true }).fill('2026-11-24T14:00')
  expect(await to.inputValue()).toBe('2026-11-24T15:00')
  await to.fill('2026-11-24T13:00')
  await show.click()
  expect(await to.evaluate((field: HTMLInputElement) => field.validationMessage)).toBe(
    'The end must be after the start.',
  )
  await page.getByRole('button', { name: 'Cancel' }).click()
  await chosen.click()
  await to.fill('')
  await show.click()
  await expect.poll(() => new URL(page.url()).search).toBe(`?from=${earlier}`)
  await dora.getByRole('link').press('Enter')
  await expect.poll(() => new URL(page.url()).search).toBe(`?user=dora&from=${earlier}`)
  await expect.poll(() => page.evaluate(() => document.activeElement?.outerHTML)).toMatch(/^<h3/)
  await expect.poll(async () => (await rows()).length).toBeGreaterThanOrEqual(3)
})

test('the ranking names more people on demand and keeps the focus; a login names three of the sessions it ended', async () => {
  await lab.limiter.settings.update({ logic: 'allow', maximum: 5 }, undefined)
  for (let login = 0; login < 6; login++) await signIn('bob')
  await lab.limiter.settings.update({ maximum: 1 }, undefined)
  for (const login of ['admin', 'alice', 'carol', 'dora', '777']) for (const _ of [1, 2]) await signIn(login)
  const { page } = await open('?period=today')
  const names = page.locator('.ranking li')
  await expect.poll(() => names.count()).toBe(5)
  await page.getByRole('button', { name: 'Show 20 more' }).press('Enter')
  await expect.poll(() => names.count()).toBe(6)
  await page.keyboard.press('Tab')
  await expect.poll(() => names.nth(5).evaluate((one) => one.contains(document.activeElement))).toBe(true)
  const device = 'Safari on iPhone, Here'
  await page.getByText(`signed out ${[device, device, device].join('; ')}; 2 more`, { exact: true }).waitFor()
})
