import { readFileSync } from 'node:fs'
import session from 'express-session'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { memorySink } from '../../../src/audit.ts'
import { AUDIT_TYPES, type AuditEvent } from '../../../src/features/activity/audit-event.ts'
import { type Host, memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { hold, seenBy, startChromium } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf, IS_WHOLE_MATRIX } from '../../support/page-faults.ts'
import { registerSession } from '../../support/register-session.ts'
import { createRestUsers, type RestUser, restHostOf } from '../../support/rest-users.ts'
import { AGENTS } from '../../support/user-agents.ts'

/** Many people who are signed in, for the admin screen. */
interface Crowd {
  readonly store: SessmgrStore
  readonly sessionStore: session.MemoryStore
  readonly users: RestUser[]
  readonly host: Host<RestUser>
}

const DAY = 24 * 60 * 60_000
const agents = [...Object.values(AGENTS), 'MyCompanyApp/5.0']
const PLACES = ['Berlin, DE', 'Leipzig, DE', 'London, GB']

/**
 * Creates people who are signed in, with one to three sessions each, and every tenth with five.
 *
 * @param sizes The number of people, and of the sessions of a further user, "many", whose id is 7.
 */
async function createCrowd(users: RestUser[], sizes: { people: number; sessions?: number }): Promise<Crowd> {
  const store = memoryStore()
  const sessionStore = new session.MemoryStore()
  const admit = async (userId: number, count: number) => {
    for (let index = 0; index < count; index++) {
      const ip = `203.0.113.${(userId + index) % 250}`
      const userAgent = agents[(userId + index) % agents.length] ?? null
      await registerSession({ registry: store, sessionStore }, userId, { ip, userAgent, ttlMs: 14 * DAY })
    }
    if (count > 0) await store.people.note([{ userId, at: Date.now(), live: count }])
  }
  const many: RestUser = { id: 7, login: 'many', role: 'subscriber' }
  const crowd = Array.from({ length: sizes.people }, (_, index): RestUser => {
    return { id: 1001 + index, login: `person${index + 1}`, role: 'subscriber' }
  })
  for (const [index, { id }] of crowd.entries()) await admit(id, index % 10 === 0 ? 5 : 1 + (index % 3))
  await admit(many.id, sizes.sessions ?? 0)
  const all = [...users, many, ...crowd]
  const byId = new Map(all.map((user) => [user.id, user]))
  const host = restHostOf(all)
  return {
    store,
    sessionStore,
    users: all,
    host: {
      ...host,
      users: {
        ...host.users,
        findById: (id) => byId.get(Number(id)),
        search: (text, limit) => all.filter(({ login }) => login.includes(text.toLowerCase())).slice(0, limit),
      },
      location: (ip) => PLACES[ip.length % PLACES.length],
    },
  }
}

const chromium = forThisFile(() => startChromium())

/** Names of the first people of a crowd, which must not break a page. */
const HOSTILE: Readonly<Record<number, { display_name: string }>> = {
  1001: { display_name: ' \u00A0\u2003' },
  1002: { display_name: 'Maximilian'.repeat(20) },
  1003: { display_name: 'document\u202Etxt.exe' },
  1004: { display_name: '<img src=x onerror="document.title=1"><b>bold</b>' },
}

/**
 * Opens the admin screen of an application with this many people, this many sessions of the user "many", and an activity
 * log.
 */
async function openCrowd(people: number, sessions: number, path: string, sink = memorySink()): Promise<Page> {
  const { store, sessionStore, users, host } = await createCrowd(createRestUsers(), { people, sessions })
  const summary = (user: RestUser) => ({ ...host.users.summary(user), ...HOSTILE[user.id] })
  const lab = await startAdminLab({
    users,
    host: { ...host, users: { ...host.users, summary } },
    sessionStore,
    sessmgr: { store, directory: true, audit: { sink } },
  })
  const page = await lab.open(chromium, path)
  onTestFinished(() => lab.close())
  return page
}

const LISTS: readonly [path: string, people: number, sessions: number, shown: string | RegExp][] = [
  ['/sessions', 50, 0, '50 of 51 shown.'],
  ['/sessions?user=many', 0, 1, '1 of 5 session'],
  ['/sessions?user=person4', 4, 0, /person4/],
  ['/sessions', 0, 0, '1 of 5'],
  ['/sessions', 10_000, 0, /50 of \D*10,?00\d shown/],
  ['/sessions?user=many', 0, 500, '50 of 500 shown.'],
  ...[1, 2, 3].map((id): (typeof LISTS)[0] => [`/sessions?user=person${id}`, 4, 0, /person/]),
]

test('lists, short and long, with hostile names, have nothing that axe finds, and fit', async () => {
  for (const [path, people, sessions, shown] of IS_WHOLE_MATRIX ? LISTS : LISTS.slice(0, 3)) {
    const page = await openCrowd(people, sessions, path)
    await page.getByText(shown).first().waitFor()
    const name = `admin-list-${people}-${sessions}-${path.replaceAll(/\W+/g, '-')}`
    expect(await faultsOf(page, name), name).toEqual([])
    await page.close()
  }
})

test('ten people are seen at first sight, and two columns sort them', async () => {
  const page = await openCrowd(30, 0, '/sessions')
  const rows = page.locator('tbody [data-row]')
  await expect.poll(() => rows.count()).toBe(31)
  const boxes = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().toJSON()))
  expect(boxes[0].top).toBeLessThanOrEqual(280)
  expect(boxes.filter(({ bottom }) => bottom <= 800).length).toBeGreaterThanOrEqual(10)
  const sorted = page.locator('th[aria-sort=descending]')
  await page.getByRole('button', { name: 'Sessions' }).click()
  await sorted.filter({ hasText: 'Sessions' }).waitFor()
  await expect.poll(() => rows.first().textContent()).toContain('5 of 5')
  await page.getByRole('button', { name: 'From' }).press('Enter')
  await sorted.filter({ hasText: 'From' }).waitFor()
  expect(new URL(page.url()).search).toBe('?show=all&sort=places')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('From')
  await page.getByRole('button', { name: 'From' }).click()
  await expect.poll(() => sorted.count()).toBe(0)
  expect(new URL(page.url()).search).toBe('?show=all&sort=recent')
})

describe('the activity log', () => {
  /** Events of every type about the first people of a crowd, one every five minutes. */
  const eventsOf = (count: number) =>
    Array.from({ length: count }, (_, index): AuditEvent => {
      const who = 1001 + (index % 4)
      return {
        id: `event-${index}`,
        at: Date.now() - (count - index) * 5 * 60_000,
        type: AUDIT_TYPES[index % AUDIT_TYPES.length] ?? 'session.started',
        user: who,
        initiator: index % 3 === 0 ? 'admin' : 'user',
        actor: 1004 - (index % 4),
        kind: 'admin',
        device: HOSTILE[who]?.display_name ?? '',
        ip: `2001:db8:1234:5678:9abc:def0:1234:${index}`,
        details: { note: HOSTILE[1004]?.display_name, maximum: 2 },
      }
    })

  test('has nothing that axe finds, and fits', async () => {
    for (const [count, path] of [
      [60, '/activity'],
      ...(IS_WHOLE_MATRIX ? ([[500, '/activity?rows=500']] as const) : []),
    ] as const) {
      const sink = memorySink()
      await sink.write(eventsOf(count))
      const page = await openCrowd(5, 0, path, sink)
      await page.getByText('Maximilian').first().waitFor()
      expect(await faultsOf(page, `admin-activity-${count}`)).toEqual([])
      await page.close()
    }
  })

  test('links to the activity of people with a name like the one that nobody has', async () => {
    const page = await openCrowd(2, 0, '/activity?user=person&type=login.refused')
    await page.getByText('Nobody is called “person”.').waitFor()
    await page.getByRole('link', { name: 'Maximilian' }).click()
    await page.getByText('Nothing matches').waitFor()
    expect(new URL(page.url()).search).toBe('?type=login.refused&user=person2')
    await page.close()
  })
})

test('a long list of sessions is selected, row by row and by Shift, searched, sorted and moved in', async () => {
  const page = await openCrowd(0, 120, '/sessions?user=many')
  const rows = page.locator('tbody [data-row]')
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-row'))
  const keyOf = (index: number) => rows.nth(index).getAttribute('data-row')
  await page.getByText('50 of 120 shown.').waitFor()
  await expect.poll(() => rows.count()).toBe(50)
  const all = page.getByRole('checkbox', { name: 'Select all' })
  await all.check()
  await page.getByText('50 of 120 selected').waitFor()
  await page.getByRole('button', { name: 'Show 50 more' }).click()
  await page.getByText('100 of 120 shown.').waitFor()
  await expect.poll(() => rows.count()).toBe(100)
  expect(await all.isChecked()).toBe(false)
  await all.check()
  await page.getByText('100 of 120 selected').waitFor()
  await rows.first().focus()
  await page.keyboard.press('End')
  await expect.poll(() => focused()).toBe(await keyOf(99))
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('99 of 120 selected').waitFor()
  await page.keyboard.press('Space')
  await page.keyboard.press('Delete')
  await page.getByRole('alertdialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  await expect.poll(() => focused()).toBe(await keyOf(1))

  await page.getByRole('button', { name: 'Show 20 more' }).press('Enter')
  await page.getByText('120 of 120 shown.').waitFor()
  await expect.poll(() => focused()).toBe(await keyOf(100))
  await expect.poll(() => rows.count()).toBe(120)
  const boxState = () => all.evaluate((box: HTMLInputElement) => [box.checked, box.indeterminate])
  expect(await boxState()).toEqual([false, true])
  await page.getByRole('button', { name: 'Select all 120' }).click()
  await page.getByText('120 of 120 selected').waitFor()
  expect(await boxState()).toEqual([true, false])
  await page.getByRole('button', { name: 'Clear' }).press('Enter')
  const boxes = page.locator('tbody').getByRole('checkbox')
  const states = () => boxes.evaluateAll((all) => all.map((box) => (box as HTMLInputElement).checked))
  const shift = (index: number) => boxes.nth(index).click({ modifiers: ['Shift'] })
  await boxes.nth(6).click()
  await shift(3)
  await page.getByText('4 of 120 selected').waitFor()
  expect((await states()).slice(2, 8)).toEqual([false, true, true, true, true, false])
  await shift(5)
  await page.getByText('1 of 120 selected').waitFor()
  expect((await states()).slice(2, 8)).toEqual([false, false, false, false, true, false])
  await boxes.nth(0).click()
  await shift(119)
  await page.getByText('120 of 120 selected').waitFor()
  expect(await page.evaluate(() => getSelection()?.toString())).toBe('')
  // The bar lies over the heading.
  await page.getByRole('button', { name: 'Clear' }).press('Enter')
  await expect.poll(() => all.evaluate((box) => box === document.activeElement)).toBe(true)
  await page.getByRole('button', { name: 'Last used' }).click()
  await page.locator('th[aria-sort=ascending]').waitFor()
  const times = await rows
    .locator('.cell-used time:first-of-type')
    .evaluateAll((all) => all.map((time) => time.getAttribute('datetime')))
  expect(times).toEqual(times.toSorted())
  await expect.poll(() => rows.count()).toBe(120)
  await page.getByRole('button', { name: 'From' }).press('Enter')
  await page.locator('th[aria-sort=ascending]', { hasText: 'From' }).waitFor()
  const places = await rows.locator('.cell-from').allTextContents()
  expect(places).toEqual(places.toSorted(new Intl.Collator('en', { numeric: true }).compare))

  await all.press('Space')
  await page.getByText('120 of 120 selected').waitFor()
  const search = page.getByRole('searchbox', { name: 'Device, place or IP' })
  await search.fill('safari 113.9')
  await expect.poll(() => rows.count()).toBeLessThan(50)
  expect(await rows.count()).toBeGreaterThan(0)
  for (const text of await rows.allTextContents()) expect(text).toMatch(/Safari.*113\.9/s)
  // What the filter hides is not signed out.
  await page.getByText(`${await rows.count()} selected`).waitFor()
  await search.fill('nothing like it')
  await page.getByText('No session matches.').waitFor()
  await expect.poll(() => page.getByRole('button', { name: /^Sign out \d/ }).count()).toBe(0)
  await search.fill('')
  await expect.poll(() => rows.count()).toBe(120)
  // One call ends 100 at most.
  await page.getByRole('button', { name: 'Sign out 120…' }).press('Enter')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out 120' }).click()
  await page.getByText('Signed out 120.').waitFor()
})

test('rule 80: the list of a person tells the label of a session, that it does not count, and who acts in it', async () => {
  const { store, sessionStore, users, host } = await createCrowd(createRestUsers(), { people: 0, sessions: 2 })
  const parts = { registry: store, sessionStore }
  await registerSession(parts, 7, { userAgent: agents[0] ?? null, label: '<b>TV</b>' })
  const { mark } = await store.sessions.read(1)
  const support = { label: 'support', counts: false, host: [1, mark, Date.now()] as const }
  await registerSession(parts, 7, { userAgent: agents[1] ?? null, ...support })
  const lab = await startAdminLab({
    users,
    host,
    sessionStore,
    sessmgr: { store, settings: { maximum: 3, max_age: 43_200 } },
  })
  onTestFinished(() => lab.close())
  const page = await lab.open(chromium, '/sessions?user=many')
  await page.getByText('3 of 3 sessions').waitFor()
  expect(await page.locator('tbody .badge:not(.accent)').allTextContents()).toEqual([
    '<b>TV</b>',
    'support',
    '1 acts here',
    'does not count',
  ])
  await page.screenshot({ path: 'test-output/admin-terms.png' })
  expect(await faultsOf(page, 'admin-terms')).toEqual([])
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByText('A session ends 12 hours after its login.').waitFor()
})

test('the URL has the order and the length of a list, for a reload and for the way back', async () => {
  const page = await openCrowd(60, 60, '/sessions')
  const rows = page.locator('tbody [data-row]')
  await page.getByRole('button', { name: 'Show 50 more' }).click()
  await expect.poll(() => rows.count()).toBe(62)
  expect(new URL(page.url()).search).toBe('?rows=100')
  await page.reload()
  await expect.poll(() => rows.count()).toBe(62)

  // Clicks right after a change of the list would be ignored.
  await rows.filter({ hasText: 'MANY' }).press('Enter')
  await page.getByRole('button', { name: 'Show 10 more' }).press('Enter')
  for (const _ of [1, 2]) await page.getByRole('button', { name: 'Signed in', exact: true }).press('Enter')
  const isSorted = page.locator('th[aria-sort=ascending]', { hasText: 'Signed in' })
  await isSorted.waitFor()
  expect(new URL(page.url()).search).toBe('?user=many&rows=100&sort=created&order=ascending')
  await page.reload()
  await isSorted.waitFor()
  await expect.poll(() => rows.count()).toBe(60)
  await page.goBack()
  await expect.poll(() => rows.count()).toBe(62)
  await page.goForward()
  await isSorted.waitFor()
  await page.goto(page.url().replace(/sessions.*/, 'sessions?show=all&sort=places'))
  await rows.filter({ hasText: 'MANY' }).press('Enter')
  await expect.poll(() => page.locator('p:has(.back)').textContent()).toBe('←Everybody (Most places)')
})

test('both lists are saved as a file, and printed with all rows, black on white, and nothing to press', async () => {
  for (const [query, column, count, name] of [
    ['?rows=100', 'login', 62, 'people'],
    ['?user=many&rows=100', 'token', 60, 'sessions-many'],
  ] as const) {
    const page = await openCrowd(60, 60, `/sessions${query}`)
    const rows = page.locator('tbody [data-row]')
    await expect.poll(() => rows.count()).toBe(count)
    await page.setViewportSize({ width: 320, height: 700 })
    await page.getByRole('button', { name: 'Export…' }).click()
    const { x = -1, width = 0 } = (await page.getByRole('menu').boundingBox()) ?? {}
    expect([x >= 0, x + width <= 320]).toEqual([true, true])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${name}.csv`)
    const file = readFileSync(await download.path(), 'utf8')
    expect(file.charCodeAt(0)).toBe(0xfeff)
    const [head, ...lines] = file.slice(1).trim().split('\r\n')
    expect([head?.split(',').includes(column), lines.length]).toEqual([true, count])

    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await page.setViewportSize({ width: 794, height: 1123 })
    const isShown = (selector: string) =>
      page.locator(selector).evaluateAll((all) => all.filter((element) => element.checkVisibility()).length)
    const pressed = 'button:not(.row-name, th button), th button > span, input, select, nav, .toasts, a.button'
    expect(await isShown(`${pressed}, [role=menu]`)).toBe(0)
    expect(await isShown('[data-row]')).toBe(count)
    const looks = await rows
      .last()
      .evaluate((row) => [
        getComputedStyle(row.querySelector('.row-name') as Element).color,
        getComputedStyle(document.body).backgroundColor,
        getComputedStyle(row).contentVisibility,
        getComputedStyle(row.closest('table')?.tHead as Element).position,
        getComputedStyle(row.querySelector('.row-name') as Element, '::before').display === 'inline-block',
      ])
    expect(looks).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)', 'visible', 'static', false])
    const wide = '.figures, .row-name, .one-line'
    const over = await page.locator(wide).evaluateAll((all) => all.map((one) => one.clientWidth - one.scrollWidth))
    expect(Math.min(...over)).toBeGreaterThanOrEqual(0)
    await page.locator('.live small', { hasText: /\d{4}, .* (?:UTC|GMT)/ }).waitFor()
    await page.close()
  }
})

test('both lists fit at 400 %, with letters of 200 %, from right to left, and with forced colors', async () => {
  const { store, sessionStore, users, host } = await createCrowd(createRestUsers(), { people: 12, sessions: 12 })
  const texts = { lang: 'ar', dir: 'rtl' }
  const lab = await startAdminLab({ users, host, sessionStore, sessmgr: { store, directory: true, texts } })
  onTestFinished(() => lab.close())
  const page = await lab.open(chromium, '/sessions')
  await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' })
  for (const [name, path] of [
    ['people', '/sessions'],
    ['person', '/sessions?user=many'],
  ]) {
    await page.goto(`${lab.origin}/admin${path}`)
    await page
      .getByText(name === 'people' ? 'person12 · 1012' : 'MyCompanyApp 5')
      .first()
      .waitFor()
    // A window of 1280 px at 400 %.
    expect(await faultsOf(page, `admin-${name}-rtl-forced`, [320])).toEqual([])
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'))
    expect(await faultsOf(page, `admin-${name}-large-rtl-forced`, [640])).toEqual([])
  }
})

test('"Sign out everywhere…" in the menu of a person asks at once, and can be cancelled while it reads', async () => {
  const page = await openCrowd(2, 3, '/sessions')
  let release = await hold(page, /\/v1\/sessions\?user=many/)
  const dots = page.getByRole('button', { name: 'Actions for MANY' })
  const dialog = page.getByRole('alertdialog', { name: 'Sign MANY out everywhere?' })
  const choose = async () => {
    await dots.press('Enter')
    await page.getByRole('menuitem', { name: 'Sign out everywhere…' }).press('Enter')
    await dialog.getByText('Loading…').waitFor()
  }
  await choose()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => dots.evaluate((button) => button === document.activeElement)).toBe(true)
  const late = page.waitForResponse((response) => response.url().includes('user=many'))
  release()
  await late
  await seenBy(page)
  expect(await dialog.count()).toBe(0)

  release = await hold(page, /\/v1\/sessions\?user=many/)
  await choose()
  release()
  await dialog.getByText('MANY will be signed out on 3 devices').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel')
  await dialog.getByRole('button', { name: 'Sign out 3' }).click()
  await page.getByText('MANY is signed out everywhere.').waitFor()
})

test('a person is erased from their menu, after a dialog that shows what happens', async () => {
  const { store, sessionStore, users, host } = await createCrowd(createRestUsers(), { people: 3, sessions: 2 })
  const lab = await startAdminLab({ users, host, sessionStore, sessmgr: { store, directory: true } })
  onTestFinished(() => lab.close())
  const page = await lab.open(chromium, '/sessions')
  const row = page.getByRole('row').filter({ hasText: 'MANY' })
  const open = async () => {
    await row.getByRole('button', { name: 'Actions for MANY' }).click()
    await page.getByRole('menuitem', { name: 'Erase…' }).click()
  }
  const dialog = page.getByRole('alertdialog', { name: 'Erase MANY?' })
  await open()
  await dialog.getByText('This cannot be undone.').waitFor()
  await dialog.getByText('The account itself stays.').waitFor()
  expect(await faultsOf(page, 'admin-erase', [360, 1280])).toEqual([])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await open()
  const erase = dialog.getByRole('button', { name: 'Erase', exact: true })
  expect(await erase.isDisabled()).toBe(true)
  await dialog.getByLabel('To confirm, type').fill('many')
  await erase.click()
  await page.getByText('Erased MANY.').first().waitFor()
  expect(await lab.limiter.sessions.count(7)).toBe(0)
  const { people } = await store.people.page({ sort: 'recent', limit: 10 })
  expect(people.map(({ userId }) => userId)).not.toContain(7)
})
