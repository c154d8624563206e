import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { wholeSettings } from '../../../support/whole-settings.ts'

const SETTINGS = '/sessmgr/v1/settings'
const IDLE = 'must be 0, or 300 seconds or more, because the last use of a session is recorded only every few minutes'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 2, logic: 'logout_oldest' } } }))
const headers = forThisFile(() => host.scriptOf('admin'))
beforeEach(() => host.registry.options.delete('sessmgr_settings'))

const call = (method: string, path = '', json?: unknown) => host.call(method, `${SETTINGS}${path}`, { headers, json })
const read = async (path = '') => (await call('GET', path)).json
const write = (json: unknown, method = 'POST') => call(method, '', json)
const stored = async () => (await host.registry.options.get('sessmgr_settings'))?.value
const whole = (given: object = {}) => wholeSettings({ maximum: 2, logic: 'logout_oldest', ...given })

describe('rule 21: /settings', () => {
  it('are read whole, merged with what the application was started with, whatever is stored', async () => {
    expect(await read()).toEqual(whole())
    await host.registry.options.set('sessmgr_settings', { maximum: 7, secret_of_an_addon: 'x' })
    expect(await read()).toEqual(whole({ maximum: 7 }))
  })

  it.each(['POST', 'PUT', 'PATCH'])('take %s for a partial update, and answer whole', async (method) => {
    const untouched = await host.snapshot()
    const nothings = [{}, { max: 5, Logic: 'ask', colour: 'red' }]
    for (const nothing of nothings) expect((await write(nothing, method)).json, 'rule 64').toEqual(whole())
    expect(await host.snapshot()).toEqual(untouched)
    expect((await write({ maximum: '3', colour: 'red' }, method)).json).toEqual(whole({ maximum: 3 }))
    expect((await write({ logic: 'block' }, method)).json).toEqual(whole({ maximum: 3, logic: 'block' }))
    expect(await stored()).toEqual({ maximum: 3, logic: 'block' })
    for (const nothing of nothings) {
      const answer = await write(nothing, method)
      expect([answer.status, answer.json], 'rule 64').toEqual([200, whole({ maximum: 3, logic: 'block' })])
    }
    const empty = await call(method)
    expect([empty.status, empty.json.code]).toEqual([400, 'rest_invalid_param'])
    expect(empty.json.data.params.body).toMatch(/must be a JSON object/)
    expect(await stored()).toEqual({ maximum: 3, logic: 'block' })
  })

  it('take what is in bounds, and refuse everything else: every bad value by name, and none of the good ones is written', async () => {
    const most = Number.MAX_SAFE_INTEGER
    for (const [name, given, expected] of [
      ...[1, most, '007', String(most)].map((value) => ['maximum', value, Number(value)] as const),
      ...[0, 300, '900'].map((value) => ['idle_release', value, Number(value)] as const),
      ...[false, 'true'].map((value) => ['enforce', value, value === 'true'] as const),
    ]) {
      const { status, json } = await write({ [name]: given })
      expect([status, json[name]], `${name} ${given}`).toEqual([200, expected])
    }
    const before = await stored()
    const whichLogic = `must be one of ${Object.keys(await host.limiter.modes.catalogue()).join(', ')}`
    const wrong: Record<string, [problem: string, values: unknown[]]> = {
      maximum: [
        'must be a whole number, 1 or more',
        [0, 1.5, 2 ** 53, '0', '1e3', '', '٣', null, true, { toString: '3' }],
      ],
      idle_release: [IDLE, [-1, 299, 300.5, '299', '5m', null]],
      enforce: ['must be true or false', [0, 1, 'off', '', null, {}]],
      logic: [whichLogic, ['nope', 'ALLOW', '__proto__', null, ['allow']]],
    }
    for (const [name, [problem, values]] of Object.entries(wrong)) {
      for (const value of values) {
        const { status, json } = await write({ maximum: 77, [name]: value })
        const refusal = [status, json.code, Object.keys(json.data?.params ?? {})]
        expect(refusal, `${name} ${JSON.stringify(value)}`).toEqual([400, 'rest_invalid_param', [name]])
      }
      expect((await write({ [name]: values[0] })).json.data.params).toEqual({ [name]: problem })
    }
    const both = await write({ maximum: 0, logic: 'nope', enforce: false })
    expect(both.json.message).toContain('maximum, logic')
    expect(both.json.data.params).toEqual({ maximum: wrong.maximum?.[0], logic: whichLogic })
    expect(await stored()).toEqual(before)
  })
})

describe('rule 37: one setting', () => {
  it('tells whether it is stored and what the code gives, and is given back to it alone or with all others', async () => {
    expect(await read('/maximum')).toEqual({ value: 2, stored: false, default: 2 })
    expect(await read('/logic')).toEqual({ value: 'logout_oldest', stored: false, default: 'logout_oldest' })
    await write({ maximum: 3, logic: 'allow', enforce: false })
    expect(await read('/maximum')).toEqual({ value: 3, stored: true, default: 2 })
    expect(await read('/enforce')).toEqual({ value: false, stored: true, default: true })
    expect(await read('/idle_release')).toEqual({ value: 0, stored: false, default: 0 })
    const one = await call('DELETE', '/maximum')
    expect([one.status, one.json]).toEqual([200, whole({ logic: 'allow', enforce: false })])
    expect(one.headers.etag).toBe((await call('GET')).headers.etag)
    expect(await stored()).toEqual({ logic: 'allow', enforce: false })
    const all = await call('DELETE')
    expect([all.status, all.json, await stored()]).toEqual([200, whole(), undefined])
    for (const method of ['GET', 'DELETE']) {
      const { status, json } = await call(method, '/colour')
      const params = { key: 'must be one of maximum, logic, idle_release, max_age, enforce' }
      expect([status, json.data.params], method).toEqual([400, params])
    }
  })
})

it('rule 65: the settings are built once for a login, an explanation and whatever a route answers', async () => {
  const { hooks } = host.limiter
  const countOf = async (work: () => Promise<unknown>) => {
    const before = hooks.didFilter('sessmgr_settings_defaults')
    await work()
    return hooks.didFilter('sessmgr_settings_defaults') - before
  }
  for (const login of ['alice', 'carol', 'dora']) await host.signIn(login)
  expect(await countOf(() => host.signIn('bob')), 'a login').toBe(1)
  expect(await countOf(() => Promise.all([1, 2].map(() => host.limiter.settings.get())))).toBe(2)
  const reads = ['settings/logic', 'people', 'people/summary', 'people/export', 'explain?user=alice']
  const routes: [method: string, path: string, json?: object][] = [
    ...[...reads, 'sessions?user=alice'].map((path): [string, string] => ['GET', `/sessmgr/v1/${path}`]),
    ['POST', SETTINGS, { maximum: 4 }],
    ['DELETE', SETTINGS],
    ['POST', '/wp/v2/settings', { sessmgr_settings: { maximum: 3 } }],
  ]
  for (const [method, path, json] of routes) {
    const work = async () => expect((await host.call(method, path, { headers, json })).status).toBe(200)
    expect(await countOf(work), `${method} ${path}`).toBe(1)
  }
})
