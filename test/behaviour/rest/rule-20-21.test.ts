import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES, PAGE_ROUTES } from '../../support/rest-routes.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

let admin: SignedIn
const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 9, logic: 'logout_oldest' } } }))
beforeEach(async () => {
  await host.registry.options.delete('sessmgr_settings')
  admin = await host.signIn('admin')
})

const SETTINGS = '/sessmgr/v1/settings'
const write = (json: unknown, method = 'POST') => host.call(method, SETTINGS, { headers: admin.headers, json })
const stored = async () => (await host.registry.options.get('sessmgr_settings'))?.value

describe('rule 20: what is not there', () => {
  const paths = [...new Set(ADMIN_ROUTES.map(({ path }) => path.split('?')[0] as string))]

  const TYPICAL = [SETTINGS, '/sessmgr/v1/sessions/destroy-all', '/sessmgr/v1/application-passwords']
  it.each(paths.filter((path) => TYPICAL.includes(path)))(
    '%s answers a method that it does not know with 405, and says which it does',
    async (path) => {
      const known = [...ADMIN_ROUTES, ...PAGE_ROUTES]
        .filter((route) => route.path.split('?')[0] === path)
        .map(({ method }) => method)
      const allowed = known.includes('GET') ? ['GET', 'HEAD', ...known.filter((method) => method !== 'GET')] : known
      const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE']
      for (const method of others.filter((name) => !allowed.includes(name))) {
        for (const headers of [{}, admin.headers]) {
          const before = await host.snapshot()
          const answer = await host.call(method, path, { headers })
          expect(answer.status, method).toBe(405)
          expect(answer.headers.allow).toBe(allowed.join(', '))
          if (method !== 'HEAD')
            expect(answer.json).toMatchObject({ code: 'rest_method_not_allowed', data: { status: 405 } })
          expect(await host.snapshot()).toEqual(before)
        }
      }
    },
  )

  it('answers HEAD like GET, without a body', async () => {
    const get = await host.call('GET', SETTINGS, { headers: admin.headers })
    const head = await host.call('HEAD', SETTINGS, { headers: admin.headers })
    expect([head.status, head.text]).toEqual([200, ''])
    const { date: _one, ...ofGet } = get.headers
    const { date: _two, ...ofHead } = head.headers
    for (const headers of [ofGet, ofHead]) delete headers['transfer-encoding']
    expect(ofHead).toEqual(ofGet)
    expect((await host.call('HEAD', SETTINGS)).status).toBe(401)
  })

  it.each([
    '/sessmgr/v1',
    '/sessmgr/v1/',
    '/sessmgr/v1/nothing',
    '/sessmgr/v1/settings//',
    '/sessmgr/v1/settings/maximum/x',
    '/wp/v2/settings/sessmgr_settings/maximum/x',
    '/sessmgr/v1/constructor',
    '/sessmgr/v1/openapi-json',
    '/wp/v2/users',
    '/lazycomments/v1/nothing',
  ])('answers the path %s with 404 rest_no_route', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await host.call(method, path, { headers: admin.headers })
      expect([answer.status, answer.json.code]).toEqual([404, 'rest_no_route'])
    }
  })

  it.each([SETTINGS, '/sessmgr/v1/sessions?user=alice', '/sessmgr/v1/openapi.json'])(
    'rule 64: serves %s with a trailing slash as well',
    async (path) => {
      const [bare = '', query] = path.split('?')
      const { headers } = admin
      const [one, other] = [path, query === undefined ? `${bare}/` : `${bare}/?${query}`]
      const { status, text } = await host.call('GET', other, { headers })
      expect([status, text]).toEqual(await host.call('GET', one, { headers }).then((it) => [it.status, it.text]))
      expect(status).not.toBe(404)
    },
  )

  it.each(['/hello', '/sessmgr/v2/settings', '/sessmgr', '/sessmgr/v1x/settings', '/'])(
    'leaves the path %s to the application',
    async (path) => {
      const answer = await host.call('GET', path)
      expect(answer.headers['content-type']).toMatch(/^text\/html/)
      expect(answer.status).toBe(path === '/hello' ? 200 : 404)
    },
  )

  // What is no JSON is in bad-input.test.ts.
  it.each(['{', 'maximum=2'])('answers the malformed JSON %j with 400 rest_invalid_json', async (body) => {
    const headers = { ...admin.headers, 'content-type': 'application/json' }
    const answer = await host.call('POST', SETTINGS, { headers, body })
    expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_json'])
    expect(await stored()).toBeUndefined()
  })

  it('names every bad parameter, and writes none of the good ones', async () => {
    const both = await write({ maximum: 0, logic: 'nope' })
    expect(both.status).toBe(400)
    expect(both.json).toEqual({
      code: 'rest_invalid_param',
      message: expect.stringContaining('maximum, logic'),
      data: {
        status: 400,
        params: {
          maximum: 'must be a whole number, 1 or more',
          logic: `must be one of ${Object.keys(await host.limiter.modes.catalogue()).join(', ')}`,
        },
      },
    })
    const one = await write({ maximum: 3, logic: 'nope' })
    expect(Object.keys(one.json.data.params)).toEqual(['logic'])
    expect(await stored()).toBeUndefined()
  })
})

describe('rule 21: /settings', () => {
  it('drops an unknown key, and keeps the value of an omitted one', async () => {
    expect((await write({ maximum: 2, colour: 'red' })).json).toEqual(
      wholeSettings({ maximum: 2, logic: 'logout_oldest' }),
    )
    expect((await write({ logic: 'block' })).json).toEqual(wholeSettings({ maximum: 2, logic: 'block' }))
    expect((await write({})).json).toEqual(wholeSettings({ maximum: 2, logic: 'block' }))
    expect(await stored()).toEqual({ maximum: 2, logic: 'block' })
  })

  it.each([{}, { max: 5, Logic: 'block', colour: 'red' }])(
    'rule 64: answers %j with the settings, and writes nothing, while no body is an error',
    async (json) => {
      const before = await host.snapshot()
      const answer = await write(json)
      expect([answer.status, answer.json]).toEqual([200, wholeSettings({ maximum: 9, logic: 'logout_oldest' })])
      const empty = await host.call('POST', SETTINGS, { headers: admin.headers })
      expect([empty.status, empty.json.code]).toEqual([400, 'rest_invalid_param'])
      expect(await stored()).toBeUndefined()
      expect(await host.snapshot()).toEqual(before)
      await write({ maximum: 2 })
      expect((await write(json)).json).toEqual(wholeSettings({ maximum: 2, logic: 'logout_oldest' }))
      expect(await stored()).toEqual({ maximum: 2 })
    },
  )

  it.each([1, Number.MAX_SAFE_INTEGER, '007', String(Number.MAX_SAFE_INTEGER)])(
    'accepts the maximum %j',
    async (maximum) => {
      const answer = await write({ maximum })
      expect([answer.status, answer.json.maximum]).toEqual([200, Number(maximum)])
    },
  )

  it.each([0, 1.5, 2 ** 53, '0', '1e3', '', '٣', '9007199254740993', null, true, [3], { toString: '3' }])(
    'refuses the maximum %j with 400',
    async (maximum) => {
      const answer = await write({ maximum, logic: 'block' })
      expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
      expect(Object.keys(answer.json.data.params)).toEqual(['maximum'])
      expect(await stored()).toBeUndefined()
    },
  )

  it.each([0, 300, '900'])('accepts the idle release %j', async (idle_release) => {
    const answer = await write({ idle_release })
    expect([answer.status, answer.json.idle_release]).toEqual([200, Number(idle_release)])
  })

  it.each([-1, 299, 300.5, '299', '5m', null])(
    'refuses the idle release %j with 400, and says why',
    async (idle_release) => {
      const answer = await write({ idle_release, logic: 'block' })
      expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
      expect(answer.json.data.params).toEqual({
        idle_release:
          'must be 0, or 300 seconds or more, because the last use of a session is recorded only every few minutes',
      })
      expect(await stored()).toBeUndefined()
    },
  )

  it('takes a boolean or its word for enforce, and refuses everything else', async () => {
    expect((await write({ enforce: false })).json.enforce).toBe(false)
    expect((await write({ enforce: 'true' })).json.enforce).toBe(true)
    for (const enforce of [0, 1, 'off', '', null, {}]) {
      const answer = await write({ enforce })
      expect([answer.status, answer.json.data.params]).toEqual([400, { enforce: 'must be true or false' }])
    }
    expect(await stored()).toEqual({ enforce: true })
  })

  it.each(['nope', 'ALLOW', '__proto__', null, ['allow']])('refuses the logic %j with 400', async (logic) => {
    const answer = await write({ maximum: 2, logic })
    expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
    expect(Object.keys(answer.json.data.params)).toEqual(['logic'])
    expect(await stored()).toBeUndefined()
  })

  it.each(['PUT', 'PATCH'])('rule 64: takes a POST that names %s for that method', async (method) => {
    await write({ maximum: 3, logic: 'block' })
    const headers = { ...admin.headers, 'x-http-method-override': method }
    const answer = await host.call('POST', SETTINGS, { headers, json: { maximum: 4 } })
    expect([answer.status, answer.json]).toEqual([200, wholeSettings({ maximum: 4, logic: 'block' })])
  })

  it.each(['POST', 'PUT', 'PATCH'])('takes %s for a partial update', async (method) => {
    await write({ maximum: 3, logic: 'block' })
    const answer = await write({ maximum: 4 }, method)
    expect([answer.status, answer.json]).toEqual([200, wholeSettings({ maximum: 4, logic: 'block' })])
  })
})
