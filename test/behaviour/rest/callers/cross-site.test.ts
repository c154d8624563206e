import { describe, expect, it, onTestFinished } from 'vitest'
import { createNonces } from '../../../../src/auth/nonce.ts'
import { REST_ACTION } from '../../../../src/routes/late-routes.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { basic } from '../../../support/rest-client.ts'
import { type SignedIn, startRestHost } from '../../../support/rest-host.ts'

const SECRET = 'the secret of the site, long enough'
const HOUR = 60 * 60_000
const SETTINGS = '/sessmgr/v1/settings'
const PASSWORDS = '/sessmgr/v1/application-passwords'
const DESTROY_ALL = '/sessmgr/v1/sessions/destroy-all'
/** One route that also takes an application password, and one that takes only a session. */
const WRITES = [
  ['PUT', SETTINGS, { maximum: 4 }],
  ['POST', PASSWORDS, { name: 'backup' }],
] as const

const failed: unknown[] = []
const attempts = { allow: () => true, failed: (attempt: unknown) => failed.push(attempt) }
const host = forThisFile(() => startRestHost({ attempts, sessmgr: { secret: SECRET, settings: { maximum: 5000 } } }))
const script = forThisFile(() => host.scriptOf('admin'))

type Change = (admin: SignedIn) => Promise<object> | object
const nonceOf = (login: string) => async () => ({ 'x-host-nonce': (await host.signIn(login)).nonce })
const signed =
  (ms: number, change: object = {}, secret = SECRET): Change =>
  async ({ token }) => {
    const nonces = createNonces(async () => [secret], { now: () => Date.now() + ms })
    return { 'x-host-nonce': await nonces.create({ userId: 1, token, action: REST_ACTION, ...change }) }
  }

/** Headers that the request of an administrator has beside, or in place of, its own: undefined takes one away. */
const FORGED: Record<string, readonly [status: number, change: Change]> = {
  'no nonce': [401, () => ({ 'x-host-nonce': undefined })],
  'an empty nonce': [403, () => ({ 'x-host-nonce': '' })],
  'a wrong nonce': [403, () => ({ 'x-host-nonce': 'A'.repeat(32) })],
  'a good nonce twice': [403, ({ nonce }) => ({ 'x-host-nonce': [nonce, nonce] })],
  "another admin's nonce": [403, nonceOf('dora')],
  'a nonce of his other session': [403, nonceOf('admin')],
  'a nonce for another action': [403, signed(0, { action: 'logout' })],
  'a nonce of 24 hours ago': [403, signed(-24 * HOUR)],
  'a nonce of tomorrow': [403, signed(24 * HOUR)],
  'a nonce made without the secret': [403, signed(0, {}, '')],
  'Sec-Fetch-Site: cross-site': [403, () => ({ 'sec-fetch-site': 'cross-site' })],
  'Sec-Fetch-Site: same-site': [403, () => ({ 'sec-fetch-site': 'same-site' })],
  'Sec-Fetch-Site: none': [403, () => ({ 'sec-fetch-site': 'none' })],
  'an empty Sec-Fetch-Site': [403, () => ({ 'sec-fetch-site': '' })],
  'a foreign Origin': [403, () => ({ origin: 'https://evil.example' })],
  'Origin: null': [403, () => ({ origin: 'null' })],
  'an Origin on another port': [403, () => ({ origin: 'http://127.0.0.1:1' })],
  'an Origin that begins alike': [403, () => ({ host: 'shop.example', origin: 'https://shop.example.evil.example' })],
  'an Origin with this one as user': [403, () => ({ origin: `http://${host.origin.slice(7)}@evil.example` })],
  'cross-site with a good Origin': [403, () => ({ 'sec-fetch-site': 'cross-site', origin: host.origin })],
  'text/plain': [415, () => ({ 'content-type': 'text/plain' })],
  'a form': [415, () => ({ 'content-type': 'application/x-www-form-urlencoded' })],
  'a good nonce made now': [200, signed(0)],
  'Sec-Fetch-Site: same-origin': [200, () => ({ 'sec-fetch-site': 'same-origin' })],
  'the Origin of this site': [200, () => ({ origin: host.origin })],
  'both of this site': [200, () => ({ 'sec-fetch-site': 'same-origin', origin: host.origin })],
}

describe('what the browser of an administrator sends', () => {
  it.each(WRITES)('to %s %s changes something only if his own page made it', async (method, path, json) => {
    const answers: Record<string, unknown> = {}
    for (const [name, [, change]] of Object.entries(FORGED)) {
      await host.registry.options.delete('sessmgr_settings')
      const admin = await host.signIn('admin')
      const sent = { ...admin.headers, 'content-type': 'application/json', ...(await change(admin)) }
      const headers = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined))
      const before = JSON.stringify(await host.snapshot())
      const { status } = await host.call(method, path, { headers, body: JSON.stringify(json) })
      answers[name] = { status, changed: JSON.stringify(await host.snapshot()) !== before }
    }
    const expected = Object.entries(FORGED).map(([name, [status]]) => [name, { status, changed: status === 200 }])
    expect(answers).toEqual(Object.fromEntries(expected))
  })

  it('may read from anywhere that has the nonce, but no page of another site reads along: no header is of CORS', async () => {
    const admin = await host.signIn('admin')
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const headers = { ...admin.headers, ...foreign, 'access-control-request-method': 'POST' }
    for (const [method, status] of [
      ['GET', 200],
      ['POST', 403],
      ['OPTIONS', 405],
    ] as const) {
      const answer = await host.call(method, SETTINGS, { headers })
      expect(answer.status, method).toBe(status)
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

it('an application password that a browser repeats changes and guesses nothing from another site, and may read', async () => {
  const before = await host.snapshot()
  for (const foreign of [
    ...['cross-site', 'same-site', 'none'].map((site) => ({ 'sec-fetch-site': site })),
    ...['https://evil.example', 'null'].map((origin) => ({ origin })),
  ]) {
    for (const password of [script, basic('admin', 'wrong')]) {
      const answer = await host.call('POST', DESTROY_ALL, { headers: { ...password, ...foreign } })
      expect([answer.status, answer.json.code], JSON.stringify(foreign)).toEqual([403, 'rest_cross_origin'])
    }
    expect((await host.call('GET', SETTINGS, { headers: { ...script, ...foreign } })).status).toBe(200)
  }
  expect([failed, await host.snapshot()]).toEqual([[], before])
  const { origin } = host
  for (const own of [{ origin, 'sec-fetch-site': 'same-origin' }, { origin }]) {
    const answer = await host.call('POST', SETTINGS, { headers: { ...script, ...own }, json: { maximum: 4 } })
    expect(answer.status).toBe(200)
  }
})

it.each([4, 5] as const)(
  'behind body parsers on Express %d, forms and texts do nothing, and JSON is taken',
  async (express) => {
    const behind = await startRestHost({ parsers: 'before', express })
    onTestFinished(() => behind.close())
    const { headers } = await behind.signIn('admin')
    const post = (path: string, more: object) => behind.call('POST', path, { headers, ...more })
    const before = await behind.snapshot()
    for (const type of ['application/x-www-form-urlencoded', 'text/plain']) {
      for (const [path, body] of [
        [SETTINGS, 'maximum=9'],
        [DESTROY_ALL, ''],
      ] as const) {
        const { status } = await post(path, { headers: { ...headers, 'content-type': type }, body })
        expect(status, `${type} ${path}`).toBe(415)
      }
    }
    expect((await post(SETTINGS, { json: [{ maximum: 2 }] })).json.code).toBe('rest_invalid_json')
    expect((await post(`${SETTINGS}?maximum=2`, {})).json.code).toBe('rest_invalid_param')
    expect(await behind.snapshot()).toEqual(before)
    expect((await post(SETTINGS, { json: { maximum: 9 } })).json.maximum).toBe(9)
    expect((await post(DESTROY_ALL, {})).status, 'no body where none is needed').toBe(200)
  },
)
