import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { startAdminHost } from '../../support/admin-host.ts'
import { startAdminLab } from '../../support/admin-lab.ts'
import { hold, seenBy } from '../../support/chromium.ts'
import { deferred } from '../../support/deferred.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'

const host = forThisFile(() => startAdminHost())
const crowded = forThisFile(() => startAdminLab({ sessmgr: { directory: true } }))
const bare = forThisFile(() => startAdminLab())
beforeEach(() => host.reset())

const limit = (page: Page) => page.getByLabel('Active Logins Limit')
const save = (page: Page) => page.getByRole('button', { name: 'Save Changes' })
const saved = (page: Page) => page.getByText('Settings saved.').first().waitFor()
const stored = () => host.limiter.settings.get()

test('settings are saved by one button, in one call, once something differs from what is stored', async () => {
  const page = await host.open()
  const group = page.getByRole('radiogroup', { name: 'Login Logic' })
  await group.waitFor()
  const modes = await group
    .getByRole('radio')
    .evaluateAll((all) =>
      all.map((radio) =>
        ['labelledby', 'describedby'].map(
          (name) => document.getElementById(radio.getAttribute(`aria-${name}`) ?? '')?.textContent,
        ),
      ),
    )
  expect(modes).toEqual(Object.values(await host.limiter.modes.catalogue()).map(({ label, desc }) => [label, desc]))
  await expect.poll(() => save(page).count()).toBe(0)
  const calls: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') calls.push(`${new URL(request.url()).pathname} ${request.postData()}`)
  })
  await limit(page).fill('9')
  await page.getByText('Limit 5 → 9.').waitFor()
  await limit(page).fill('5')
  await expect.poll(() => save(page).count()).toBe(0)
  await limit(page).fill('3')
  await page.getByRole('radio', { name: 'Block New' }).click()
  await page.getByRole('switch', { name: 'Enforce the Limit' }).click()
  const band = page.getByText('Report only: nobody is refused')
  expect(await band.count()).toBe(0)
  await save(page).click()
  await saved(page)
  await band.waitFor()
  expect(calls).toEqual(['/api/wp/v2/settings {"sessmgr_settings":{"maximum":3,"logic":"block","enforce":false}}'])
  expect(await stored()).toMatchObject({ maximum: 3, logic: 'block', enforce: false })
  await expect.poll(() => save(page).count()).toBe(0)
  expect((await seenBy(page)).violations).toEqual([])
})

test('Enter in a field saves, even before the page has rendered its last digit, and the keyboard stays there', async () => {
  const page = await host.open()
  await limit(page).evaluate((field: HTMLInputElement) => {
    field.focus()
    field.select()
    document.execCommand('insertText', false, '3')
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
  })
  await saved(page)
  expect(await stored()).toMatchObject({ maximum: 3 })
  await limit(page).fill('4')
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await stored()).maximum).toBe(4)
  await limit(page).fill('2')
  await save(page).press('Enter')
  await expect.poll(() => save(page).count()).toBe(0)
  // The bar is gone, and the keyboard is back in the field.
  await expect.poll(() => limit(page).evaluate((field) => field === document.activeElement)).toBe(true)
})

test('a limit that is none is not saved, and the field says why', async () => {
  const page = await host.open()
  for (const [bad, words] of [
    ['0', 'Enter a whole number, 1 or more.'],
    ['1.5', 'Enter a whole number, 1 or more.'],
    ['', 'Enter a whole number, 1 or more.'],
    ['9999999999999999999', 'Enter a whole number from 1 to 9,007,199,254,740,991.'],
  ] as const) {
    await limit(page).fill(bad)
    await page.getByText(words).waitFor()
    await save(page).click()
    await page.getByText('Nothing was saved').first().waitFor()
    await expect
      .poll(() => limit(page).evaluate((input) => document.activeElement === input), { message: bad })
      .toBe(true)
    expect(await limit(page).inputValue()).toBe(bad)
    expect(await stored(), bad).toMatchObject({ maximum: 5 })
    await page.getByRole('button', { name: 'Discard' }).click()
    await expect.poll(() => limit(page).inputValue()).toBe('5')
  }
  await limit(page).fill('1000')
  const bound = page.getByText('Values above 1,000 count as 1,000.')
  expect(await bound.count()).toBe(0)
  await limit(page).fill('1000000')
  await bound.waitFor()
  expect(await limit(page).getAttribute('aria-describedby')).toBe(await bound.locator('..').getAttribute('id'))
})

test('a lower limit says how many people hold more, before and without saving it', async () => {
  for (const login of ['alice', 'alice', 'alice', 'carol', 'carol']) await fetch(`${crowded.origin}/sign-in/${login}`)
  const page = await crowded.open(host.chromium)
  await limit(page).fill('2')
  await page.getByText('1 person has more sessions and stays signed in.').waitFor()
  const columns = page.getByRole('figure', { name: 'How many sessions people have now' }).getByRole('listitem')
  const shown = ['1 1', 'limit 1 2', '1 3', '0 4', '0 5', '0 more']
  expect((await columns.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual(shown)
  await limit(page).fill('1')
  await page.getByText('2 people have more sessions. They stay signed in.').waitFor()
  expect(await faultsOf(page, 'admin-over-limit', [360])).toEqual([])
  await limit(page).fill('3')
  await page.getByText('Nobody has more sessions.').waitFor()
  // A column ends with a high limit, and only what is above it is over. On a phone, each label is on one line.
  await page.setViewportSize({ width: 1280, height: 800 })
  await limit(page).fill('20')
  await expect.poll(async () => (await columns.allInnerTexts()).at(-2)?.replaceAll(/\s+/g, ' ')).toBe('limit 0 9–20')
  expect(await columns.last().getAttribute('class')).toBe('over')
  await page.setViewportSize({ width: 360, height: 640 })
  await limit(page).fill('21')
  await expect.poll(() => columns.count()).toBe(6)
  const heights = await columns.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
  expect(new Set(heights).size).toBe(1)
  await limit(page).fill('1')
  await page.getByRole('button', { name: 'Show them' }).click()
  await page.getByRole('link', { name: 'More than 1 session' }).waitFor()
  await expect.poll(() => page.locator('[data-row] .row-name').allTextContents()).toEqual(['ALICE', 'CAROL'])
  // The edit waits, and nobody asks about it.
  await page.goBack()
  await expect.poll(() => limit(page).inputValue()).toBe('1')
  expect(await crowded.limiter.settings.get()).toMatchObject({ maximum: 5 })
})

test('the settings say who changed them last, and nothing moves when that is known', async () => {
  const page = await bare.open(host.chromium)
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  await expect.poll(() => page.getByText(/^Changed/).count()).toBe(0)
  await limit(page).fill('4')
  // Without a list of people, there is no number.
  await page.getByText('Users with more sessions stay signed in.').waitFor()
  await expect.poll(() => page.getByText(/ (has|have) more sessions/).count()).toBe(0)
  await save(page).click()
  await page.getByText('Changed by ADMIN, now').waitFor()
  await bare.limiter.settings.update({ maximum: 3 })
  const later = await bare.open(host.chromium)
  await later.getByText('Changed now').waitFor()
  expect((await seenBy(later)).shift).toBeLessThan(0.01)
})

test('idle sessions are released after minutes, and Block New says what happens without that', async () => {
  const page = await host.open()
  const field = page.getByLabel('Idle Release')
  const waits = page.getByText('Anyone who closes the browser without signing out waits until the session ends.')
  await field.waitFor()
  expect([await field.inputValue(), await waits.count()]).toEqual(['0', 0])
  await page.getByRole('radio', { name: 'Block New' }).click()
  await waits.waitFor()
  await page.getByText('Yours ends 2 days after its last use.').waitFor()
  await field.fill('4')
  await page.getByText('Enter 0, or a whole number of 5 or more.').waitFor()
  await save(page).click()
  await page.getByText('Nothing was saved').first().waitFor()
  await field.fill('15')
  await expect.poll(() => waits.count()).toBe(0)
  await save(page).click()
  await saved(page)
  expect(await stored()).toMatchObject({ logic: 'block', idle_release: 900 })
  await page.reload()
  await expect.poll(() => field.inputValue()).toBe('15')
})

test('an outline stands while they are loaded; a failure is told, and tried again on demand', async () => {
  const page = await (await host.signIn('admin')).newPage()
  let isDown = true
  const held = deferred()
  await page.route('**/wp/v2/settings', async (route) => {
    await held.promise
    if (isDown) await route.fulfill({ status: 503, json: { code: 'store_unavailable', message: 'The store is down.' } })
    else await route.continue()
  })
  await page.goto(`${host.origin}/admin/settings`)
  await page.locator('main .skeleton').waitFor()
  held.resolve()
  await page.getByText('The store is down.').waitFor()
  isDown = false
  await page.getByRole('button', { name: 'Try again' }).press('Enter')
  await limit(page).waitFor()
  await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
  // The focus is not lost with the button that had it.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H2')
  await limit(page).fill('7')
  await page.getByRole('button', { name: 'Discard' }).press('Enter')
  await expect.poll(() => page.getByRole('button', { name: 'Discard' }).count()).toBe(0)
  await expect.poll(() => limit(page).evaluate((field) => field === document.activeElement)).toBe(true)
})

// Decision 82.
test('the tab is one page, and its side menu leads to each part; the mouse wheel changes no focused limit', async () => {
  const page = await host.open('/settings', { viewport: { width: 1280, height: 500 } })
  await expect
    .poll(() => page.locator('main h2').allTextContents())
    .toEqual(['General Settings', 'Role Limits', 'Force Logout', 'Application Passwords'])
  const menu = page.getByRole('navigation', { name: 'Settings', exact: true })
  const parts = ['General Settings', 'Add-ons', 'Force Logout', 'Application Passwords']
  expect(await menu.getByRole('link').allTextContents()).toEqual(parts)
  const top = (name: string) =>
    page.getByRole('heading', { name }).evaluate((heading) => heading.getBoundingClientRect().top)
  for (const [link, heading] of [
    ['Application Passwords', 'Application Passwords'],
    ['Add-ons', 'Role Limits'],
    ['General Settings', 'General Settings'],
    ['Force Logout', 'Force Logout'],
  ] as const) {
    await menu.getByRole('link', { name: link }).click()
    await expect.poll(() => top(heading), { message: link }).toBeLessThan(400)
    expect(await top(heading), link).toBeGreaterThan(0)
  }
  await page.reload()
  await expect.poll(() => top('Force Logout')).toBeLessThan(400)

  await page.evaluate('scrollTo(0, 0)')
  await limit(page).click()
  await limit(page).hover()
  for (let notch = 0; notch < 3; notch++) await page.mouse.wheel(0, 100)
  await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(0)
  expect(await limit(page).inputValue()).toBe('5')
  await page.keyboard.type('12')
  expect(await limit(page).inputValue()).toBe('12')
})

describe('leaving with unsaved edits', () => {
  const dialogOf = (page: Page) => page.getByRole('alertdialog', { name: 'Leave without saving?' })

  test('to another tab, or by the back button, asks: stay, discard, or save', async () => {
    const page = await host.open('/support')
    const go = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    const there = () => page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
    await go('Settings')
    await limit(page).fill('7')
    await go('Support')
    await dialogOf(page).waitFor()
    // The three answers stand on one line.
    const tops = await dialogOf(page)
      .getByRole('button')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
    expect([tops.length, new Set(tops).size]).toEqual([3, 1])
    await page.getByRole('button', { name: 'Keep editing' }).click()
    expect(await limit(page).inputValue()).toBe('7')
    await page.goBack()
    await dialogOf(page).waitFor()
    expect(new URL(page.url()).pathname).toBe('/admin/settings')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await there()
    expect(new URL(page.url()).pathname).toBe('/admin/support')
    await go('Settings')
    expect(await limit(page).inputValue()).toBe('5')
    await limit(page).fill('6')
    await go('Support')
    await page.getByRole('button', { name: 'Save and leave' }).click()
    await there()
    expect(await stored()).toMatchObject({ maximum: 6 })

    // A save that is under way answers the question.
    await go('Settings')
    const release = await hold(page, '**/wp/v2/settings', 'POST')
    await limit(page).fill('4')
    await save(page).click()
    await go('Support')
    await dialogOf(page).waitFor()
    release()
    await there()
    await expect.poll(() => dialogOf(page).count()).toBe(0)
    expect(await stored()).toMatchObject({ maximum: 4 })
  })

  test('for another page makes the browser ask, and only then', async () => {
    const page = await host.open()
    const asked: string[] = []
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type())
      await dialog.dismiss()
    })
    await limit(page).fill('7')
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => asked).toEqual(['beforeunload'])
    expect(await limit(page).inputValue()).toBe('7')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => page.isClosed()).toBe(true)
    expect(asked).toHaveLength(1)
  })
})
