import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { addonsLab } from '../support/admin-addons.ts'
import { startAdminLab } from '../support/admin-lab.ts'
import { seenBy, startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

/** An add-on as its author writes it: no React of its own, a panel with an option, a tab. */
const ADDON = `
const { hooks, react, jsxRuntime: { jsx, jsxs }, useOption, components: { Panel, NumberField, Toggle } } = window.sessmgr
function NightPanel() {
  const [night, change, { problems }] = useOption('night_limit')
  if (!night) return null
  return jsxs(Panel, { title: 'Night limit', children: [
    jsx(Toggle, { label: 'Limit nights', checked: night.enabled, onChange: (enabled) => change({ enabled }) }, 'a'),
    jsx(NumberField, { label: 'Night logins', minimum: 1, value: night.maximum, problem: problems.maximum,
      onChange: (maximum) => change({ maximum }) }, 'b'),
  ] })
}
function Counter() {
  const [count, setCount] = react.useState(0)
  return jsx('button', { onClick: () => setCount(count + 1), children: 'Pressed ' + count })
}
hooks.addFilter('sessmgr.settings.panels', 'night', (panels) => [...panels, { id: 'night', Component: NightPanel }])
hooks.addFilter('sessmgr.admin.tabs', 'night', (tabs) =>
  [...tabs, { key: 'night', label: 'Night', component: Counter, after: 'settings', wide: true }])
`

const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() =>
  startAdminLab({
    ...addonsLab().options,
    files: { '/files/night.js': ADDON },
    admin: { scripts: ['/files/night.js'] },
  }),
)
beforeAll(() => {
  lab.limiter.options.register('night_limit', {
    schema: z.object({ enabled: z.boolean(), maximum: z.number().max(9, 'must be 9 or less') }),
    default: { enabled: false, maximum: 1 },
    rest: true,
  })
})

const tabs = (page: Page) => page.getByRole('navigation', { name: 'Sections' }).getByRole('link').allTextContents()
const panels = (page: Page) => page.locator('main h2').allTextContents()
const BEHIND = ['Force Logout', 'Application Passwords']

/** Runs code as a bundle does that comes when the screen has long been drawn. */
async function late(page: Page, code: string): Promise<void> {
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  await page.evaluate(
    `{ const { hooks, react, jsxRuntime: { jsx } } = window.sessmgr; const h = react.createElement; ${code} }`,
  )
}

test('window.sessmgr lists exactly the eight variables, and carries the tools of add-ons', async () => {
  const page = await lab.open(chromium)
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  const seen = await page.evaluate(`({
    keys: Object.keys(window.sessmgr),
    tools: ['hooks', 'react', 'jsxRuntime', 'useOption', 'request', 'toast', 'components'].map((name) => typeof window.sessmgr[name]),
    version: window.sessmgr.react.version,
  })`)
  expect(seen).toEqual({
    keys: ['version', 'slug', 'name', 'page', 'restUrl', 'restNonce', 'adminUrl', 'logics'],
    tools: ['object', 'object', 'object', 'function', 'function', 'function', 'object'],
    version: expect.stringMatching(/^19\./),
  })
})

describe('an add-on', () => {
  test('has a panel whose option is saved with the built-in settings, in one call', async () => {
    const page = await lab.open(chromium)
    await page.getByRole('switch', { name: 'Limit nights' }).click()
    await expect.poll(() => panels(page)).toEqual(['General Settings', 'Night limit', ...BEHIND])
    await page.getByLabel('Active Logins Limit').fill('6')
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    expect((await sent).postDataJSON()).toEqual({
      night_limit: { enabled: true },
      sessmgr_settings: { maximum: 6 },
    })
    await page.getByText('Settings saved.').first().waitFor()
    expect(await lab.limiter.options.get('night_limit')?.get()).toEqual({ enabled: true, maximum: 1 })
    expect(await lab.limiter.settings.get()).toMatchObject({ maximum: 6 })
    expect((await seenBy(page)).violations).toEqual([])
  })

  test('shows what the server refuses beside its field; nothing is saved, and the edits stay', async () => {
    const page = await lab.open(chromium)
    await page.getByLabel('Night logins').fill('10')
    await page.getByLabel('Active Logins Limit').fill('7')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.locator('.field .problem').getByText('must be 9 or less').waitFor()
    expect(await page.getByLabel('Active Logins Limit').inputValue()).toBe('7')
    expect(await lab.limiter.settings.get()).toMatchObject({ maximum: 6 })
    await page.getByLabel('Night logins').fill('0')
    await page.getByRole('button', { name: 'Save Changes' }).click()
    await page.getByText('Nothing was saved').first().waitFor()
  })

  test('has a tab with state, where it wants it, with an address of its own', async () => {
    const page = await lab.open(chromium, '/night')
    await page.getByRole('button', { name: 'Pressed 0' }).click()
    await page.getByRole('button', { name: 'Pressed 1' }).waitFor()
    expect(await tabs(page)).toEqual(['Sessions', 'Activity', 'Settings', 'Night', 'Add-ons', 'Support'])
    await expect.poll(() => page.locator('main.wide').count()).toBe(1)
  })
})

describe('sessmgr.admin.tabs', () => {
  test('is given the built-in entries, and takes a bundle that comes late', async () => {
    const page = await lab.open(chromium)
    await late(
      page,
      `hooks.addFilter('sessmgr.admin.tabs', 'late', (tabs) => {
        window.given = tabs.map(({ key }) => key)
        return [...tabs, { key: 'x', label: 'Late', component: () => 'late body', before: 'support' }]
      }, 5)`,
    )
    await page.getByRole('link', { name: 'Late' }).click()
    await page.getByText('late body').waitFor()
    expect(await page.evaluate('window.given')).toEqual(['sessions', 'activity', 'settings', 'addons', 'support'])
    expect(await tabs(page)).toEqual(['Sessions', 'Activity', 'Settings', 'Night', 'Add-ons', 'Late', 'Support'])
    await page.evaluate(`window.sessmgr.hooks.removeFilter('sessmgr.admin.tabs', 'late')`)
    await page.getByText('There is no “x” section here').waitFor()
  })

  test('lets an entry replace a built-in tab in its place', async () => {
    const page = await lab.open(chromium)
    await late(
      page,
      `hooks.addFilter('sessmgr.admin.tabs', 'late', (tabs) =>
        [...tabs, { key: 'addons', label: 'My shop', component: () => 'other wares' }])`,
    )
    await page.getByRole('link', { name: 'My shop' }).click()
    await page.getByText('other wares').waitFor()
    expect(await tabs(page)).toEqual(['Sessions', 'Activity', 'Settings', 'Night', 'My shop', 'Support'])
  })

  test('survives a tab that fails: it is named, the rest lives, and a retry draws it again', async () => {
    const page = await lab.open(chromium)
    await late(
      page,
      `window.fail = true
      hooks.addFilter('sessmgr.admin.tabs', 'late', (tabs) => [...tabs, { key: 'x', label: 'Shaky', component: () => {
        if (window.fail) throw new Error('the moon is full')
        return 'better now'
      } }])`,
    )
    await page.getByRole('link', { name: 'Shaky' }).click()
    await page.getByText('“Shaky” could not be shown').waitFor()
    await page.getByText('the moon is full').waitFor()
    await page.evaluate('window.fail = false')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('better now').waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  })

  test('survives a tab that throws what has no words', async () => {
    const page = await lab.open(chromium)
    await late(
      page,
      `hooks.addFilter('sessmgr.admin.tabs', 'late', (tabs) =>
        [...tabs, { key: 'x', label: 'Mute', component: () => { throw Object.create(null) } }])`,
    )
    await page.getByRole('link', { name: 'Mute' }).click()
    await page.getByText('“Mute” could not be shown').waitFor()
    expect(await tabs(page)).toContain('Settings')
  })

  test('shows an outline while the code of a tab is on its way, and the other tabs work on', async () => {
    const page = await lab.open(chromium)
    await late(
      page,
      `const code = new Promise((resolve) => { window.arrive = () => resolve({ default: () => 'here it is' }) })
      hooks.addFilter('sessmgr.admin.tabs', 'late', (tabs) =>
        [...tabs, { key: 'x', label: 'Slow', component: react.lazy(() => code) }])`,
    )
    await page.getByRole('link', { name: 'Slow' }).click()
    await page.getByRole('status').filter({ hasText: 'Loading…' }).waitFor()
    await page.getByRole('link', { name: 'Support' }).click()
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
    await page.getByRole('link', { name: 'Slow' }).click()
    await page.evaluate('window.arrive()')
    await page.getByText('here it is').waitFor()
  })

  test('survives a subscriber that throws, and names it', async () => {
    const page = await lab.open(chromium)
    await late(
      page,
      `hooks.addFilter('sessmgr.admin.tabs', 'clumsy', () => { throw new Error('oops') })
      hooks.addFilter('sessmgr.admin.tabs', 'wrong', () => 'no list', 30)`,
    )
    await page.getByText('The add-on “clumsy” failed and was skipped in “sessmgr.admin.tabs”: oops').waitFor()
    expect(await tabs(page)).toEqual(['Sessions', 'Activity', 'Settings', 'Add-ons', 'Support'])
  })
})

test('sessmgr.settings.panels: order is kept, a later entry with the same id replaces, one without id is dropped', async () => {
  const page = await lab.open(chromium)
  await late(
    page,
    `const panel = (title) => () => h('h2', null, title)
    hooks.addFilter('sessmgr.settings.panels', 'late', (panels) => [...panels,
      { id: 'one', Component: panel('First') }, { Component: panel('Nameless') }, { id: '', Component: panel('Blank') },
      { id: 'two', Component: panel('Second') }, { id: 'one', Component: panel('First again') }, { id: 'three' },
      { id: 'bad', Component: () => { throw new Error('panel trouble') } }])`,
  )
  await page.getByText('First again').waitFor()
  const own = ['Night limit', 'First again', 'Second']
  await expect.poll(() => panels(page)).toEqual(['General Settings', ...own, ...BEHIND])
  await page.getByText('“bad” could not be shown').waitFor()
})

describe('sessmgr.settings.force_logout.cross_sell', () => {
  const FILTER = 'sessmgr.settings.force_logout.cross_sell'

  test.each([
    ['null hides the banner', 'null', 0, undefined],
    ['a node replaces it, in the row', `h('p', null, 'Mine')`, 1, 'Mine'],
    [
      'a node that brings the row is taken as it is',
      `h('div', { className: 'sessmgr-cross-sell a' }, 'Row')`,
      1,
      'Row',
    ],
    ['a text is a node', `'Words'`, 1, 'Words'],
    ['an object falls through to the default', '({ a: 1 })', 1, 'Need finer control?'],
    ['true falls through to the default', 'true', 1, 'Need finer control?'],
    ['nothing falls through to the default', 'undefined', 1, 'Need finer control?'],
  ])('%s', async (_what, returned, rows, words) => {
    const page = await lab.open(chromium, '/settings?part=force')
    await late(page, `hooks.addFilter('${FILTER}', 'late', () => (${returned}))`)
    await expect.poll(() => page.locator('.sessmgr-cross-sell').count()).toBe(rows)
    if (words) await page.locator('.sessmgr-cross-sell').getByText(words).waitFor()
  })

  test('the default leads to the add-ons', async () => {
    const page = await lab.open(chromium, '/settings?part=force')
    await page.getByRole('button', { name: 'Browse add-ons' }).click()
    await page.getByRole('heading', { name: 'Limits per user' }).waitFor()
  })
})

test('sessmgr.admin.i18n translates every text, at once', async () => {
  const page = await lab.open(chromium)
  await late(
    page,
    `hooks.addFilter('sessmgr.admin.i18n', 'de', (texts) =>
      ({ ...texts, save: 'Speichern', tab_support: 'Hilfe', maximum: 7, number_invalid: 'Ab {minimum}, bitte.' }))`,
  )
  await page.getByRole('link', { name: 'Hilfe' }).waitFor()
  await page.getByLabel('Active Logins Limit').fill('0')
  await page.getByRole('button', { name: 'Speichern' }).waitFor()
  await page.getByText('Ab 1, bitte.').waitFor()
})
