import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { html } from '../../../../src/features/pages/markup.ts'
import { pageStyle } from '../../../../src/features/pages/page.ts'
import { resolveAccountOptions } from '../../../../src/features/pages/page-options.ts'

test('the style weighs at most 2 kB of gzip, and its hash is that of its text', () => {
  for (const { css, hash } of [pageStyle({}), pageStyle({ accent: '#0a5' })]) {
    expect(gzipSync(css, { level: 9 }).length).toBeLessThanOrEqual(2048)
    expect(hash).toBe(`'sha256-${createHash('sha256').update(css).digest('base64')}'`)
  }
  expect(pageStyle({ accent: '#0a5' }).css).toMatch(/:root\{--accent:#0a5\}$/)
})

test('every colour of the style can be replaced', () => {
  const [colours = ''] = pageStyle({}).css.split('*{')
  const names = [...colours.matchAll(/--([a-z-]+):/g)].map(([, name = '']) => name)
  expect(names).toContain('on-accent')
  const styles = Object.fromEntries(names.map((name) => [name, '#0a5']))
  expect(resolveAccountOptions({ styles }).styles).toEqual(styles)
})

test('whatever is not markup is escaped', () => {
  const part = html`<b>${'<i>'}</b>`
  expect(html`${part}${['"', html`<br>`]}${undefined}${null}${false}${0}`.text).toBe('<b>&lt;i&gt;</b>&quot;<br>0')
})

test.each([
  [{ stepup: {} }, /no option "stepup".*stepUp/],
  [{ stepUp: {} }, /exactly one of/],
  [{ stepUp: { freshFor: 60, url: '/passkey' } }, /exactly one of/],
  [{ stepUp: { freshFor: 60, attempts: { count: 5, minutes: 10 } } }, /"stepUp.attempts" needs "stepUp.verify"/],
  [{ stepUp: { verify() {}, attempts: { count: 0, minutes: 10 } } }, /"stepUp.attempts.count" must be a whole number/],
  [{ stepUp: { freshFor: 1 } }, /from 60 to 86400/],
  [{ stepUp: { url: 'javascript:alert()' } }, /stepUp.url/],
  [{ loginUrl: '//evil.example' }, /loginUrl/],
  [{ styles: { accent: 'red}body{display:none' } }, /styles.accent/],
  [{ styles: { accent: 'red</style>' } }, /styles.accent/],
  [{ styles: { acent: '#0a5' } }, /"styles" has no color "acent"/],
  [{ frameAncestors: ['*'] }, /frameAncestors/],
  [{ path: '/account/' }, /"path"/],
  [{ show: { location: 'Berlin' } }, /show.location/],
])('%j is refused at startup', (options, message) => {
  expect(() => resolveAccountOptions(options as never)).toThrow(message)
})
