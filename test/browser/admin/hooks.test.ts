import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { addonsLab, installFirst } from '../../support/admin-addons.ts'
import { type AdminLab, startAdminLab } from '../../support/admin-lab.ts'
import { seenBy, startChromium } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'

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
    // Rule 40: what the application does not translate is in English.
    sessmgr: { ...addonsLab().options.sessmgr, texts: { lang: 'de', logic_block: 'Neue abweisen' } },
  }),
)
const registered = forThisFile(() => startAdminLab())
const bare = forThisFile(() => startAdminLab())
beforeAll(() => {
  installFirst(registered.limiter)
  lab.limiter.options.register('night_limit', {
    schema: z.object({ enabled: z.boolean(), maximum: z.number().max(9, 'must be 9 or less') }),
    default: { enabled: false, maximum: 1 },
    rest: true,
  })
})

const tabs = (page: Page) => page.getByRole('navigation', { name: 'Sections' }).getByRole('link').allTextContents()
const panels = (page: Page) => page.locator('main h2').allTextContents()
const BEHIND = ['Force Logout', 'Application Passwords']

/** Opens the settings, where code can run as a bundle does that comes when the screen has long been drawn. */
async function open(of: AdminLab, path = '/settings') {
  const page = await of.open(chromium, path)
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  const late = (code: string) =>
    page.evaluate(
      `{ const { hooks, react, jsxRuntime: { jsx } } = window.sessmgr; const h = react.createElement
      const tab = (key, component = () => 'body of ' + key, more) => ({ key, label: key, component, ...more })
      const filter = (name, change) => { hooks.removeFilter(name, 'late'); hooks.addFilter(name, 'late', change) }
      ${code} }`,
    )
  const press = (name: string) => page.getByRole('link', { name, exact: true }).click()
  return { page, late, press }
}

test('an add-on has a panel, whose option is saved with the settings in one call, and a tab with state', async () => {
  const { page, press } = await open(lab)
  const variables = await page.evaluate('Object.keys(window.sessmgr)')
  expect(variables).toEqual(['version', 'slug', 'name', 'page', 'restUrl', 'restNonce', 'adminUrl', 'logics'])
  expect(await page.evaluate('window.sessmgr.react.version')).toMatch(/^19\./)
  await page.getByRole('switch', { name: 'Limit nights' }).click()
  await expect.poll(() => panels(page)).toEqual(['General Settings', 'Night limit', ...BEHIND])
  await page.getByLabel('Active Logins Limit').fill('6')
  const save = page.getByRole('button', { name: 'Save Changes' })
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await save.click()
  expect((await sent).postDataJSON()).toEqual({ night_limit: { enabled: true }, sessmgr_settings: { maximum: 6 } })
  await page.getByText('Settings saved.').first().waitFor()
  expect(await lab.limiter.options.get('night_limit')?.get()).toEqual({ enabled: true, maximum: 1 })
  expect(await lab.limiter.settings.get()).toMatchObject({ maximum: 6 })

  // What the server refuses stands beside its field; nothing is saved, and the edits stay.
  await page.getByLabel('Night logins').fill('10')
  await page.getByLabel('Active Logins Limit').fill('7')
  await save.click()
  await page.locator('.field .problem').getByText('must be 9 or less').waitFor()
  expect(await page.getByLabel('Active Logins Limit').inputValue()).toBe('7')
  expect(await lab.limiter.settings.get()).toMatchObject({ maximum: 6 })
  await page.getByLabel('Night logins').fill('0')
  await save.click()
  await page.getByText('Nothing was saved').first().waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()

  await press('Night')
  expect(new URL(page.url()).pathname).toBe('/admin/night')
  await page.getByRole('button', { name: 'Pressed 0' }).click()
  await page.getByRole('button', { name: 'Pressed 1' }).waitFor()
  expect(await tabs(page)).toEqual(['Sessions', 'Activity', 'Settings', 'Night', 'Add-ons', 'Support'])
  await expect.poll(() => page.locator('main.wide').count()).toBe(1)
  expect((await seenBy(page)).violations).toEqual([])
})

// Decision 82: the tab is there for the filter, with a provider and without.
test('sessmgr.admin.tabs: an entry that comes late goes before the Add-ons tab, after it and in its place', async () => {
  for (const [of, night, shown] of [
    [lab, ['Night'], ['Add-ons']],
    [registered, [], ['Add-ons']],
    [bare, [], []],
  ] as const) {
    const { page, late, press } = await open(of)
    const known = ['Sessions', 'Activity', 'Settings', ...night]
    await late(`filter('sessmgr.admin.tabs', (tabs) => { window.given = tabs.map(({ key }) => key)
      return [...tabs, tab('x')] })`)
    await expect.poll(() => tabs(page)).toEqual([...known, ...shown, 'Support', 'x'])
    const given = (await page.evaluate('given')) as string[]
    expect(given.filter((key) => key !== 'night')).toEqual(['sessions', 'activity', 'settings', 'addons', 'support'])
    await late(`filter('sessmgr.admin.tabs', (tabs) =>
      [...tabs, tab('a', undefined, { before: 'addons' }), tab('b', undefined, { after: 'addons' })])`)
    await expect.poll(() => tabs(page)).toEqual([...known, 'a', 'Add-ons', 'b', 'Support'])
    await late(`filter('sessmgr.admin.tabs', (tabs) => [...tabs, tab('addons')])`)
    await expect.poll(() => tabs(page)).toEqual([...known, 'addons', 'Support'])
    await press('addons')
    await page.getByText('body of addons').waitFor()
    await late(`hooks.removeFilter('sessmgr.admin.tabs', 'late')`)
    await page
      .getByText(of === bare ? 'There is no “addons” section here' : /No add-ons available|Limits per/)
      .first()
      .waitFor()
  }
})

test('a tab that fails is named, the rest lives, and a retry draws it; one on its way shows an outline', async () => {
  const { page, late, press } = await open(lab)
  await late(`window.fail = true
    const code = new Promise((resolve) => { window.arrive = () => resolve({ default: () => 'here it is' }) })
    hooks.addFilter('sessmgr.admin.tabs', 'late', (tabs) => [...tabs,
      tab('Shaky', () => { if (window.fail) throw new Error('the moon is full'); return 'better now' }),
      tab('Mute', () => { throw Object.create(null) }), tab('Slow', react.lazy(() => code))])`)
  await press('Shaky')
  await page.getByText('“Shaky” could not be shown').waitFor()
  await page.getByText('the moon is full').waitFor()
  await page.evaluate('window.fail = false')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('better now').waitFor()
  await press('Mute')
  await page.getByText('“Mute” could not be shown').waitFor()
  await press('Slow')
  await page.getByRole('status').filter({ hasText: 'Loading…' }).waitFor()
  await press('Settings')
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  await press('Slow')
  await page.evaluate('window.arrive()')
  await page.getByText('here it is').waitFor()
  await late(`hooks.addFilter('sessmgr.admin.tabs', 'clumsy', () => { throw new Error('oops') })
    hooks.addFilter('sessmgr.admin.tabs', 'wrong', () => 'no list', 30)`)
  await page.getByText('The add-on “clumsy” failed and was skipped in “sessmgr.admin.tabs”: oops').waitFor()
  expect(await tabs(page)).toEqual(['Sessions', 'Activity', 'Settings', 'Add-ons', 'Support'])
})

/** How elements of a bundled React look: as React 18 and 19 make them, in builds for production and development. */
const ELEMENTS = [
  `({ $$typeof: Symbol.for('react.element'), type: 'p', props: {}, key: null, ref: null })`,
  `Object.freeze({ $$typeof: Symbol.for('react.transitional.element'), type: 'p', props: {}, key: null, ref: null })`,
]
const REFUSED = 'It uses a React of its own, which this screen cannot render.'
const COMPONENTS = {
  element: '() => own()',
  nested: `() => h('div', null, 'Text', [h('p', null, own())])`,
  memo: 'react.memo(() => own())',
  class: 'class extends react.Component { render() { return own() } }',
  hook: '() => bundled.H.useState(0)',
  object: `({ $$typeof: Symbol.for('react.memo'), type: () => null, compare: null })`,
}

test('an add-on with a React of its own is named on its tab, panel and banner, with the React to use', async () => {
  const { page, late, press } = await open(lab)
  for (const element of ELEMENTS) {
    const logged = page.waitForEvent('console', (line) => line.text().includes('window.sessmgr.react'))
    await late(`const own = () => (${element}); const bundled = { H: null }
      filter('sessmgr.settings.panels', (panels) => [...panels, { id: 'own', Component: own }])
      filter('sessmgr.settings.force_logout.cross_sell', own)
      filter('sessmgr.admin.tabs', (tabs) => [...tabs,
        ${Object.entries(COMPONENTS).map(([key, code]) => `tab('${key}', ${code})`)}])`)
    await page.getByText('“own” could not be shown').waitFor()
    await page.locator('.sessmgr-cross-sell').getByText('cross_sell” could not be shown').waitFor()
    await expect.poll(() => page.getByText(REFUSED).count()).toBe(2)
    await page.getByRole('heading', { name: 'Application Passwords' }).waitFor()
    for (const key of Object.keys(COMPONENTS)) {
      await press(key)
      await page.getByText(`“${key}” could not be shown`).waitFor()
      await page.getByText(REFUSED).waitFor()
    }
    await logged
    await press('Settings')
    await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  }
})

test('sessmgr.settings.panels: a later entry with the same id replaces, one that fails is named', async () => {
  const { page, late } = await open(lab)
  await late(`const panel = (title) => () => h('h2', null, title)
    hooks.addFilter('sessmgr.settings.panels', 'late', (panels) => [...panels,
      { id: 'one', Component: panel('First') }, { Component: panel('Nameless') }, { id: 'two', Component: panel('Second') },
      { id: 'one', Component: panel('First again') }, { id: 'bad', Component: () => { throw new Error('trouble') } }])`)
  await page.getByText('“bad” could not be shown').waitFor()
  const own = ['Night limit', 'First again', 'Second']
  await expect.poll(() => panels(page)).toEqual(['General Settings', ...own, ...BEHIND])
})

test('sessmgr.settings.force_logout.cross_sell: null hides the banner, a node replaces it, else it stays', async () => {
  const { page, late } = await open(lab, '/settings?part=force')
  const row = page.locator('.sessmgr-cross-sell')
  for (const [returned, rows, words] of [
    ['null', 0, ''],
    [`h('p', null, 'Mine')`, 1, 'Mine'],
    [`h('div', { className: 'sessmgr-cross-sell a' }, 'Row')`, 1, 'Row'],
    [`'Words'`, 1, 'Words'],
    ['({ a: 1 })', 1, 'Need finer control?'],
    ['undefined', 1, 'Need finer control?'],
  ] as const) {
    await late(`filter('sessmgr.settings.force_logout.cross_sell', () => (${returned}))`)
    await expect.poll(() => row.count(), { message: returned }).toBe(rows)
    await expect.poll(async () => (await row.allTextContents()).join(), { message: returned }).toContain(words)
  }
  await page.getByRole('button', { name: 'Browse add-ons' }).click()
  await page.getByRole('heading', { name: 'Limits per user' }).waitFor()
})

test('rule 40: the texts are those of the application, and sessmgr.admin.i18n translates each of them at once', async () => {
  const { page, late } = await open(lab)
  await page.getByText('Neue abweisen').first().waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  await late(`hooks.addFilter('sessmgr.admin.i18n', 'de', (texts) =>
    ({ ...texts, save: 'Speichern', tab_support: 'Hilfe', maximum: 7, number_invalid: 'Ab {minimum}, bitte.' }))`)
  await page.getByRole('link', { name: 'Hilfe' }).waitFor()
  await page.getByLabel('Active Logins Limit').fill('0')
  await page.getByRole('button', { name: 'Speichern' }).waitFor()
  await page.getByText('Ab 1, bitte.').waitFor()
})
