import { beforeEach, describe, expect, it } from 'vitest'
import { helpAt } from '../../../src/ground/help.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { basic } from '../../support/rest-client.ts'
import { type RestHost, type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { UNSAFE_ROUTES } from '../../support/rest-routes.ts'

let admin: SignedIn
const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 50 } } }))
beforeEach(async () => {
  admin = await host.signIn('admin')
})

const SETTINGS = '/sessmgr/v1/settings'
const DESTROY = '/sessmgr/v1/sessions/destroy'

describe('rule 18: an error has one shape', () => {
  const cases: [status: number, code: string, send: () => ReturnType<RestHost['call']>][] = [
    [400, 'rest_invalid_param', () => host.call('POST', SETTINGS, { headers: admin.headers, json: { maximum: 0 } })],
    [400, 'rest_invalid_json', () => host.call('POST', SETTINGS, { headers: json(admin), body: '{' })],
    [400, 'missing_identifier', () => host.call('POST', DESTROY, { headers: admin.headers, json: {} })],
    [401, 'rest_forbidden', () => host.call('GET', SETTINGS)],
    [401, 'rest_forbidden', () => host.call('GET', SETTINGS, { headers: basic('admin', 'wrong') })],
    [
      403,
      'rest_cookie_invalid_nonce',
      () => host.call('GET', SETTINGS, { headers: { ...admin.headers, 'x-host-nonce': 'x' } }),
    ],
    [404, 'user_not_found', () => host.call('POST', DESTROY, { headers: admin.headers, json: { user: 'x' } })],
    [404, 'rest_no_route', () => host.call('GET', '/sessmgr/v1/nothing')],
    [405, 'rest_method_not_allowed', () => host.call('DELETE', '/sessmgr/v1/addons')],
    [
      413,
      'rest_payload_too_large',
      () => host.call('POST', SETTINGS, { headers: json(admin), body: ' '.repeat(200_000) }),
    ],
    [415, 'rest_unsupported_media_type', () => host.call('POST', SETTINGS, { headers: admin.headers, body: '{}' })],
  ]
  it.each(cases)('%d %s', async (status, code, send) => {
    const answer = await send()
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    const { code: given, message, data, ...rest } = answer.json
    expect([given, data.status, rest]).toEqual([code, status, {}])
    expect(message).toMatch(/^[A-Z].*\.$/s)
  })

  it('also for a fault inside, of which it says nothing', async () => {
    const remove = host.limiter.hooks.addFilter('sessmgr_logics', 'broken', () => {
      throw new Error('canary-of-the-inside')
    })
    const answer = await host.call('POST', SETTINGS, { headers: admin.headers, json: { maximum: 2 } })
    remove()
    expect(answer.status).toBe(500)
    expect(answer.json).toEqual({ code: 'rest_internal_error', message: expect.any(String), data: { status: 500 } })
    expect(answer.text).not.toContain('canary')
    expect(host.logs.at(-1)?.[0]).toBe(`A REST call failed. See ${helpAt('hook_failed')}`)
    expect(JSON.stringify(host.logs.at(-1))).toContain('canary-of-the-inside')
  })

  it('and when the store is down, with 503 and a time to come back', async () => {
    const { get } = host.registry.options
    const { SessmgrError } = await import('../../../src/index.ts')
    host.registry.options.get = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is down.'))
    const answer = await host.call('GET', SETTINGS, { headers: await host.scriptOf('admin') })
    host.registry.options.get = get
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    expect(answer.json).toMatchObject({ code: 'store_unavailable', data: { status: 503 } })
  })
})

describe('rule 19: the order of checks', () => {
  const bad = { headers: { 'content-type': 'application/json' }, body: '{"maximum": broken' }

  it('tells a stranger nothing of what is wrong with his parameters', async () => {
    for (const { method, path } of UNSAFE_ROUTES) {
      const answer = await host.call(method, path, bad)
      expect([answer.status, answer.json.code], path).toEqual([401, 'rest_forbidden'])
    }
  })

  it('puts the nonce before the capability, and the capability before the parameters', async () => {
    const alice = await host.signIn('alice')
    const call = (nonce: string) => {
      const headers = { ...bad.headers, cookie: alice.cookie, 'x-host-nonce': nonce }
      return host.call('POST', SETTINGS, { ...bad, headers })
    }
    expect((await call('wrong')).json.code).toBe('rest_cookie_invalid_nonce')
    expect((await call(alice.nonce)).json).toMatchObject({ code: 'rest_forbidden', data: { status: 403 } })
    const headers = { ...bad.headers, ...admin.headers }
    expect((await host.call('POST', SETTINGS, { ...bad, headers })).json.code).toBe('rest_invalid_json')
  })

  it('answers an anonymous caller 401, and one without the capability 403', async () => {
    const anonymous = await host.call('GET', SETTINGS)
    expect([anonymous.status, anonymous.json.code]).toEqual([401, 'rest_forbidden'])
    const carol = await host.call('GET', SETTINGS, { headers: (await host.signIn('carol')).headers })
    expect([carol.status, carol.json.code]).toEqual([403, 'rest_forbidden'])
  })

  it('says with every 401 how to sign in, and opens the dialogue of no browser that did not ask for Basic', async () => {
    const anonymous = await host.call('GET', SETTINGS)
    expect(anonymous.headers['www-authenticate']).toMatch(/^(?!Basic)\w+ realm="[^"]+"$/)
    const script = await host.call('GET', SETTINGS, { headers: basic('admin', 'wrong') })
    expect(script.headers['www-authenticate']).toMatch(/^Basic realm="[^"]+", charset="UTF-8"$/)
  })

  it('takes a cookie without a nonce for an anonymous caller, and says that the nonce is missing', async () => {
    const { cookie } = admin
    const answer = await host.call('GET', SETTINGS, { headers: { cookie } })
    const anonymous = await host.call('GET', SETTINGS)
    expect([answer.status, answer.json.code]).toEqual([401, anonymous.json.code])
    expect(answer.headers['www-authenticate']).toBe(anonymous.headers['www-authenticate'])
    expect(answer.json.message).toBe(
      'You are signed in, but the nonce is missing. Send the X-HOST-Nonce header with the value of limiter.nonce(request).',
    )
    expect(anonymous.json.message).toBe('Sign in first.')
    expect(answer.headers['x-host-nonce']).toBeUndefined()
    expect(await host.isSignedIn(admin)).toBe(true)
  })

  it.each(['', ' ', 'wrong', 'a, b'])('refuses a cookie with the nonce %j', async (nonce) => {
    const { cookie } = admin
    const answer = await host.call('GET', SETTINGS, { headers: { cookie, 'x-host-nonce': nonce } })
    expect([answer.status, answer.json.code]).toEqual([403, 'rest_cookie_invalid_nonce'])
    expect(answer.headers['x-host-nonce']).toBeUndefined()
  })

  it('refuses a good nonce that is sent twice', async () => {
    const { cookie, nonce } = admin
    const answer = await host.call('GET', SETTINGS, { headers: { cookie, 'x-host-nonce': [nonce, nonce] } })
    expect([answer.status, answer.json.code]).toEqual([403, 'rest_cookie_invalid_nonce'])
  })

  it('gives a fresh nonce for a good one, also with an answer that says no', async () => {
    for (const call of [{}, { json: { maximum: 0 } }]) {
      const method = 'json' in call ? 'POST' : 'GET'
      const { headers } = await host.call(method, SETTINGS, { headers: admin.headers, ...call })
      const fresh = headers['x-host-nonce'] as string
      const again = await host.call('GET', SETTINGS, { headers: { cookie: admin.cookie, 'x-host-nonce': fresh } })
      expect(again.status).toBe(200)
    }
  })

  it('decision 71: answers one whose session has ended like a stranger, and leaves his cookie alone', async () => {
    await host.limiter.sessions.end(1, admin.token)
    for (let request = 0; request < 2; request++) {
      const answer = await host.call('GET', SETTINGS, { headers: admin.headers })
      expect([answer.status, answer.json.code]).toEqual([401, 'rest_forbidden'])
      expect(answer.headers['set-cookie']).toEqual([expect.stringMatching(`^sessmgr_notice=${admin.token};`)])
    }
    expect(await host.isSignedIn(admin)).toBe(false)
  })

  it('takes the header that the application has named', async () => {
    const renamed = await startRestHost({ sessmgr: { nonceHeader: 'X-My-Nonce' } })
    const { cookie, nonce } = await renamed.signIn('admin')
    expect((await renamed.call('GET', SETTINGS, { headers: { cookie, 'x-host-nonce': nonce } })).status).toBe(401)
    const good = await renamed.call('GET', SETTINGS, { headers: { cookie, 'x-my-nonce': nonce } })
    expect(good.status).toBe(200)
    expect(good.headers['x-my-nonce']).toMatch(/^[\w-]{32}$/)
    await renamed.close()
  })
})

function json({ headers }: SignedIn): Record<string, string> {
  return { ...headers, 'content-type': 'application/json' }
}
