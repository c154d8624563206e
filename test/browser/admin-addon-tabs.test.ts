import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { addonsLab, installFirst } from '../support/admin-addons.ts'
import { PICTURES } from '../support/admin-host.ts'
import { type AdminLab, startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'

const chromium = forThisFile(() => startChromium())
const vendor = forThisFile(() => startAdminLab(addonsLab().options))
const bare = forThisFile(() => startAdminLab())
const registered = forThisFile(() => startAdminLab())
beforeAll(() => installFirst(registered.limiter))

const tabs = (page: Page) => page.getByRole('navigation', { name: 'Sections' }).getByRole('link').allTextContents()

async function open(lab: AdminLab): Promise<Page> {
  const page = await lab.open(chromium, '/support')
  await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
  await page.evaluate(`window.tab = (key, more) => ({ key, label: key, component: () => 'body of ' + key, ...more })`)
  return page
}

/** Replaces the filter of an add-on whose bundle comes late. Returns the keys that the filter was given. */
async function filter(page: Page, result: string): Promise<unknown> {
  await page.evaluate(
    `{ const { hooks } = window.sessmgr; hooks.removeFilter('sessmgr.admin.tabs', 'late')
    hooks.addFilter('sessmgr.admin.tabs', 'late', (tabs) => { window.given = tabs.map(({ key }) => key); return ${result} }) }`,
  )
  return page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(given))))')
}

// Decision 82: the tab is there for the filter, with a provider and without.
describe.each([
  ['with a licensing provider', vendor, ['Add-ons']],
  ['with a registered add-on and no provider', registered, ['Add-ons']],
  ['with neither', bare, []],
])('%s', (_name, lab, shown) => {
  test('a tab of an add-on goes before the Add-ons tab, after it and in its place', async () => {
    const page = await open(lab)
    const known = ['Sessions', 'Activity', 'Settings']
    expect(await filter(page, `[...tabs, tab('x')]`)).toEqual(['sessions', 'activity', 'settings', 'addons', 'support'])
    expect(await tabs(page)).toEqual([...known, ...shown, 'Support', 'x'])
    await filter(page, `[...tabs, tab('a', { before: 'addons' }), tab('b', { after: 'addons' })]`)
    expect(await tabs(page)).toEqual([...known, 'a', 'Add-ons', 'b', 'Support'])
    await filter(page, `[...tabs, tab('addons')]`)
    expect(await tabs(page)).toEqual([...known, 'addons', 'Support'])
    await page.getByRole('link', { name: 'addons' }).click()
    await page.getByText('body of addons').waitFor()
  })
})

test('with a registered add-on and no provider, the Add-ons tab says that there are no others', async () => {
  const page = await registered.open(chromium, '/addons')
  await page.getByText('No add-ons available').waitFor()
})

/** How elements of a bundled React look: as React 18 and 19 make them, in builds for production and development. */
const ELEMENTS = ['react.element', 'react.transitional.element'].flatMap((symbol) => [
  `({ $$typeof: Symbol.for('${symbol}'), type: 'p', props: {}, key: null, ref: null })`,
  `Object.freeze({ $$typeof: Symbol.for('${symbol}'), type: 'p', props: {}, key: null, ref: null })`,
])
const REFUSED = 'It uses a React of its own, which this screen cannot render.'

describe('an add-on with a React of its own is named, with the React to use', () => {
  test.each(ELEMENTS)('on its tab, for %s', async (element) => {
    const page = await open(vendor)
    const logged = page.waitForEvent('console', (line) => line.text().includes('window.sessmgr.react'))
    const components = {
      element: '() => own()',
      nested: `() => h('div', null, 'Text', [h('p', null, own())])`,
      memo: 'react.memo(() => own())',
      class: 'class extends react.Component { render() { return own() } }',
      hook: '() => bundled.H.useState(0)',
      object: `({ $$typeof: Symbol.for('react.memo'), type: () => null, compare: null })`,
    }
    await page.evaluate(
      `{ const { hooks, react } = window.sessmgr; const h = react.createElement
      const own = () => (${element}); const bundled = { H: null }
      hooks.addFilter('sessmgr.admin.tabs', 'own', (tabs) => [...tabs,
        ${Object.entries(components).map(([key, code]) => `tab('${key}', { component: ${code} })`)}]) }`,
    )
    for (const key of Object.keys(components)) {
      await page.getByRole('link', { name: key, exact: true }).click()
      await page.getByText(`“${key}” could not be shown`).waitFor()
      await page.getByText(REFUSED).waitFor()
    }
    await logged
    await page.screenshot({ path: `${PICTURES}admin-own-react.png` })
    await page.getByRole('link', { name: 'Support' }).click()
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
  })

  test.each(ELEMENTS.slice(1, 3))('in its panel and its cross-sell, for %s', async (element) => {
    const page = await vendor.open(chromium)
    await page.getByLabel('Active Logins Limit').waitFor()
    await page.evaluate(
      `{ const { hooks } = window.sessmgr; const own = () => (${element})
      hooks.addFilter('sessmgr.settings.panels', 'own', (panels) => [...panels, { id: 'own', Component: own }])
      hooks.addFilter('sessmgr.settings.force_logout.cross_sell', 'own', own) }`,
    )
    await page.getByText('“own” could not be shown').waitFor()
    await page.locator('.sessmgr-cross-sell').getByText('cross_sell” could not be shown').waitFor()
    await expect.poll(() => page.getByText(REFUSED).count()).toBe(2)
    await page.getByRole('heading', { name: 'Application Passwords' }).waitFor()
    await page.getByRole('link', { name: 'Support' }).click()
    await page.getByRole('heading', { name: 'Questions and answers' }).waitFor()
  })
})
