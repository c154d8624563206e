import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { startAdminHost } from '../../support/admin-host.ts'
import { hold } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const FIREFOX = (version: number) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`

/** Last used, signed in twice for wide and narrow screens, and expires. */
const TIMES_OF_A_ROW = 4

const host = forThisFile(() => startAdminHost())
beforeEach(() => host.reset())

const count = async () => (await host.limiter.sessions.list(3)).length
const cards = (page: Page) => page.getByRole('grid').locator('tbody tr')
const placesOf = (page: Page) =>
  cards(page).evaluateAll((all) => all.map((card) => Math.round(card.getBoundingClientRect().top + window.scrollY)))

/** The sessions of bob, who has signed in with three browsers. */
async function openBob(): Promise<Page> {
  for (const version of [141, 142, 143]) await host.signIn('bob', { userAgent: FIREFOX(version) })
  const page = await host.openWithClock('/sessions?user=bob')
  await page.getByText(/^[35] of 5 sessions$/).waitFor()
  // A list that has just changed takes no click.
  await page.clock.runFor(600)
  return page
}

/** Presses at a place, whatever is there by then. */
async function middleOf(page: Page, name: string): Promise<[x: number, y: number]> {
  const button = page.getByRole('button', { name })
  await button.scrollIntoViewIfNeeded()
  const box = await button.boundingBox()
  if (!box) throw new Error(`There is no "${name}".`)
  return [box.x + box.width / 2, box.y + box.height / 2]
}

describe('the list of sessions', () => {
  test('ends one session by clicks at the same place, doubled and later, and leaves its row where it was', async () => {
    const page = await openBob()
    const before = await placesOf(page)
    const place = await middleOf(page, 'Sign out Firefox 143 on Windows')
    await page.mouse.dblclick(...place, { delay: 20 })
    await page.locator('.toast').getByText('Signed out Firefox 143 on Windows.').waitFor()
    await page.getByText('2 of 5 sessions').waitFor()
    await page.clock.runFor(2_000)
    await page.mouse.click(...place)
    await page.clock.runFor(15_000)
    await expect.poll(() => count()).toBe(2)
    expect(await placesOf(page)).toEqual(before)
    const row = cards(page).filter({ hasText: 'Firefox 143' })
    await row.getByText('Signed out', { exact: true }).waitFor()
    await expect.poll(() => row.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await expect.poll(() => cards(page).count()).toBe(2)
  })

  test('takes no click that comes right after it has changed', async () => {
    const page = await openBob()
    const place = await middleOf(page, 'Sign out Firefox 142 on Windows')
    await page.mouse.click(...(await middleOf(page, 'Sign out Firefox 143 on Windows')))
    await page.getByText('2 of 5 sessions').waitFor()
    await page.clock.pauseAt(Date.now() + 120_000)
    const refresh = page.getByRole('button', { name: 'Refresh' })
    // So long a jump has the list fetched, and only a timer says that this is done.
    const isReady = () => page.clock.runFor(10).then(() => refresh.isEnabled())
    await expect.poll(isReady).toBe(true)
    await refresh.click()
    await expect.poll(() => cards(page).count()).toBe(2)
    await page.mouse.click(...place)
    await page.mouse.click(...(await middleOf(page, 'Sign out Firefox 141 on Windows')))
    await page.clock.runFor(600)
    await expect.poll(() => count()).toBe(2)
    await page.mouse.click(...(await middleOf(page, 'Sign out Firefox 141 on Windows')))
    await expect.poll(count).toBe(1)
  })

  test('keeps new sessions behind a button, also while it is offline, and shows them when it is pressed', async () => {
    const page = await openBob()
    const before = await placesOf(page)
    await host.signIn('bob', { userAgent: FIREFOX(144) })
    await page.clock.runFor(15_000)
    const show = page.getByRole('button', { name: '1 new session · show' })
    await show.waitFor()
    await page.getByText('4 of 5 sessions').waitFor()
    await page.context().setOffline(true)
    await page.clock.runFor(15_000)
    await page.getByText(/^You are offline\. Last update .+\.$/).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Live' }).count()).toBe(0)
    expect(await placesOf(page)).toEqual(before)
    await page.context().setOffline(false)
    await show.click()
    await page.getByRole('button', { name: 'Firefox 144 on Windows', exact: true }).waitFor()
    await expect.poll(() => cards(page).count()).toBe(4)
    await expect.poll(() => show.count()).toBe(0)
  })

  test('is polled with its tag, and renders no row again while the server says that it is unchanged', async () => {
    for (const version of [141, 142]) await host.signIn('bob', { userAgent: FIREFOX(version) })
    const page = await (await host.signIn('admin')).newPage()
    await page.clock.install()
    // Of all that the screen renders, only times of rows have a date.
    await page.addInitScript(() => {
      const counted = window as unknown as { dates: number }
      const { toISOString } = Date.prototype
      // The clock of this page runs ahead on purpose; the screen would correct it by the server's.
      const { get } = Headers.prototype
      Headers.prototype.get = function (name) {
        return name.toLowerCase() === 'date' ? null : get.call(this, name)
      }
      counted.dates = 0
      Date.prototype.toISOString = function () {
        counted.dates += 1
        return toISOString.call(this)
      }
    })
    const datesSince = async (before: number) =>
      (await page.evaluate(() => (window as unknown as { dates: number }).dates)) - before
    const answers: number[] = []
    page.on('response', (response) => {
      if (response.url().includes('/v1/sessions?')) answers.push(response.status())
    })
    const poll = async () => {
      const seen = answers.length
      await page.clock.runFor(10_000)
      await expect.poll(() => answers.length).toBeGreaterThan(seen)
      await expect.poll(() => page.getByRole('button', { name: 'Refresh' }).isEnabled()).toBe(true)
    }
    await page.goto(`${host.origin}/admin/sessions?user=bob`)
    await page.getByText('2 of 5 sessions').waitFor()
    // From here on, the words for the times stay the same for many minutes.
    await page.clock.fastForward('02:10:00')
    await cards(page).nth(1).getByText('2 hours ago').first().waitFor()
    await poll()
    const rendered = await datesSince(0)
    expect(rendered).toBeGreaterThanOrEqual(2 * TIMES_OF_A_ROW)
    for (const _ of [1, 2, 3]) await poll()
    expect([answers[0], ...new Set(answers.slice(1))]).toEqual([200, 304])
    expect(await datesSince(rendered)).toBe(0)

    // Of a changed list, not even the times of the row that changed are rendered.
    await host.limiter.sessions.end(3, (await host.limiter.sessions.list(3))[0]?.token ?? '')
    await poll()
    await page.getByText('1 of 5 sessions').waitFor()
    expect(await datesSince(rendered)).toBe(0)
    await page.clock.fastForward('01:00:00')
    await cards(page).first().getByText('3 hours ago').first().waitFor()
  })

  test('tells of each ending that it is under way, done or was done already, and keeps the focus in its row', async () => {
    for (const version of [140, 140]) await host.signIn('bob', { userAgent: FIREFOX(version) })
    const page = await openBob()
    const end = (version: number) => page.getByRole('button', { name: `Sign out Firefox ${version} on Windows` })
    const release = await hold(page, '**/sessions/destroy')
    for (const count of [1, 2]) {
      await end(140).first().press('Enter')
      await expect.poll(() => page.getByRole('button', { name: 'Signing out…' }).count()).toBe(count)
    }
    release()
    await page.getByText('3 of 5 sessions').waitFor()
    await page.locator('.toast').getByText('2 times').waitFor()
    await end(142).press('Enter')
    await page.getByText('2 of 5 sessions').waitFor()
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.querySelector('.row-name')?.textContent))
      .toBe('Firefox 142 on Windows')
    // The list must not learn of the end before the key is pressed.
    await hold(page, '**/v1/sessions?*')
    await host.limiter.sessions.endAll(3)
    await end(143).press('Enter')
    await page.locator('.toast.good').getByText('That session had already ended.').waitFor()
    expect(await page.locator('.toast.error').count()).toBe(0)
  })
})
