import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { html } from '../../../src/features/pages/markup.ts'
import { pageStyle } from '../../../src/features/pages/page.ts'
import { type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

const start = (options: SessmgrOptions = {}) => sessmgr({ logger: { warn() {}, error() {} }, ...options })
const host = restHostOf(createRestUsers())

/** Expects that each of these options is refused, in words that name it. */
function expectRefused(
  make: (options: never) => unknown,
  rows: readonly (readonly [object | null, string | RegExp])[],
) {
  for (const [options, problem] of rows) {
    const refusal = expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(problem) })
    expect(() => make(options as never), JSON.stringify(options)).toThrow(refusal)
  }
}

it('choice() needs to know the users or how to sign them in, and refuses wrong options by name', () => {
  expect(() => start().choice()).toThrow('choice() needs sessmgr({ host }), or "complete"')
  expect(start().choice({ complete: () => {} })).toBeTypeOf('function')
  expect(start({ host }).choice()).toBeTypeOf('function')
  const request = { method: 'GET', url: '/', headers: {} }
  expect(() => start({ host }).choice(request as object)).toThrow('Write limiter.choice(), with parentheses')
  expectRefused(start({ host }).choice, [
    ...['login', '//evil.example', '/choose?a'].map((url) => [{ url }, '"url" must be a path'] as const),
    [{ loginUrl: '//evil.example' }, '"loginUrl" must be a path or an http or https URL'],
    [{ successRedirect: 'javascript:alert(1)' }, '"successRedirect" must be a path or an http or https URL'],
    [{ field: { name: 'end' } }, /"field\.name" must .* not be one of end, all, cancel, proof, pending/],
    [{ choiceSeconds: 59 }, '"choiceSeconds" must be a whole number from 60 to 900; got 59'],
    [{ choiceSeconds: 901 }, '"choiceSeconds" must be'],
    [{ attempts: { count: 5, minutes: 10 } }, '"attempts" needs "verify"'],
    [{ verify: () => true, attempts: { count: 5 } }, '"attempts.minutes" must be a whole number from 1 to 1440'],
    [{ cooldown: { count: 0, minutes: 5 } }, '"cooldown.count" must be a whole number from 1 to 100'],
  ])
})

it('account() refuses wrong options by name, and another proof than that of the first page', () => {
  const verify = () => true
  const attempts = { count: 3, minutes: 10 }
  expectRefused(
    (options) => start().account(options),
    [
      [{ stepUp: {} }, 'exactly one of'],
      [{ stepUp: { freshFor: 60, url: '/passkey' } }, 'exactly one of'],
      [{ stepUp: { freshFor: 60, attempts } }, '"stepUp.attempts" needs "stepUp.verify"'],
      [{ stepUp: { verify, attempts: { count: 0, minutes: 10 } } }, '"stepUp.attempts.count" must be a whole number'],
      [{ stepUp: { freshFor: 1 } }, 'from 60 to 86400'],
      [{ stepUp: { url: 'javascript:alert()' } }, 'stepUp.url'],
      [{ loginUrl: '//evil.example' }, 'loginUrl'],
      [{ styles: { accent: 'red}body{display:none' } }, 'styles.accent'],
      [{ frameAncestors: ['*'] }, 'frameAncestors'],
    ],
  )
  for (const [first, second] of [
    [{}, { stepUp: { verify } }],
    [{ stepUp: { freshFor: 900 } }, { stepUp: { freshFor: 60 } }],
    [{ stepUp: { url: '/passkey' } }, { stepUp: { verify } }],
    [{ stepUp: { verify } }, { stepUp: { verify, attempts } }],
  ]) {
    const limiter = start()
    limiter.account(first)
    const same = 'All account() calls need the same "stepUp", because the REST routes use it too'
    expect(() => limiter.account(second)).toThrow(same)
    expect(() => limiter.account({ ...first, loginUrl: '/de/login' })).not.toThrow()
  }
})

it('admin() and enqueueAdmin() take paths, addresses and origins, and refuse anything else by name', () => {
  expect(() => start().admin()).toThrow(/needs users and permissions/)
  const limiter = start({ host })
  const given = {
    loginUrl: 'https://id.example/login?app=1',
    scripts: ['/add-on.js', 'https://cdn.example/add-on.js?v=1', '/add-on.css'],
    frameAncestors: ['http://localhost:8080'],
    support: { docs: '/help', forum: 'https://forum.example/c/1', contact: 'mailto:help@example.test' },
  }
  expect(limiter.admin(given)).toBeTypeOf('function')
  const urls = ['javascript:alert(1)', '//elsewhere.example', 'login']
  const scripts = ['/add-on.js', ['data:text/javascript,1'], ['/a b.js'], ['/\\elsewhere.example/x.js']]
  const origins = ['https://cdn.example/path', "'unsafe-inline'", '*', 'https://cdn.example; script-src *']
  expectRefused(limiter.admin, [
    ...urls.map((loginUrl) => [{ loginUrl }, '"loginUrl"'] as const),
    ...scripts.map((list) => [{ scripts: list }, '"scripts"'] as const),
    ...origins.map((origin) => [{ scriptOrigins: [origin] }, '"scriptOrigins"'] as const),
    [{ frameAncestors: ['data:'] }, '"frameAncestors"'],
    ...['/admin/', 'admin'].map((path) => [{ path }, '"path"'] as const),
    [{ support: { docs: 'javascript:alert(1)' } }, '"support.docs"'],
    [{ support: { contact: 'help@example.test' } }, '"support.contact"'],
  ])
  limiter.enqueueAdmin('/add-on.js')
  limiter.enqueueAdmin('https://cdn.example/x.css')
  for (const bad of ['javascript:1', 'x.js']) expect(() => limiter.enqueueAdmin(bad), bad).toThrow(/takes a path/)
})

it('the style weighs at most 2 kB of gzip, and each of its colours can be replaced', () => {
  const { css } = pageStyle({})
  expect(gzipSync(css, { level: 9 }).length).toBeLessThanOrEqual(2048)
  expect(pageStyle({ accent: '#0a5' }).css).toMatch(/:root\{--accent:#0a5\}$/)
  const names = [...(css.split('*{')[0] ?? '').matchAll(/--([a-z-]+):/g)].map(([, name = '']) => name)
  expect(names).toContain('on-accent')
  const styles = Object.fromEntries(names.map((name) => [name, '#0a5']))
  expect(start().account({ styles })).toBeTypeOf('function')
})

it('whatever is not markup is escaped', () => {
  const part = html`<b>${'<i>'}</b>`
  expect(html`${part}${['"', html`<br>`]}${undefined}${null}${false}${0}`.text).toBe('<b>&lt;i&gt;</b>&quot;<br>0')
})
