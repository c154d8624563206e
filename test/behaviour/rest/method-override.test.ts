import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { LICENSE_KEY } from '../../support/rest-licensing.ts'
import { ADMIN_ROUTES, UNSAFE_ROUTES } from '../../support/rest-routes.ts'

const LICENSE = '/sessmgr/v1/addons/1001/license'
const SETTINGS = '/sessmgr/v1/settings'

let admin: SignedIn
const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 5000 } } }))
beforeEach(async () => {
  await host.arrange()
  admin = await host.signIn('admin')
})

/** Calls a route as WordPress' clients do: a POST that names the method. */
const callAs = (method: string, path: string, json?: object, headers: Record<string, string> = admin.headers) =>
  host.call('POST', path, { headers: { ...headers, 'x-http-method-override': method }, json })

describe('rule 64: a POST with X-HTTP-Method-Override', () => {
  it.each(UNSAFE_ROUTES.filter(({ method }) => method !== 'POST'))('is $method $path', async (route) => {
    const { method, path, json } = route
    const before = await host.snapshot()
    const answer = await callAs(method, path, json)
    expect(answer.status).toBe(200)
    expect(await host.snapshot()).not.toEqual(before)
  })

  it('deactivates a license, even with the key in its body, and by the query as well', async () => {
    expect((await callAs('DELETE', LICENSE, { key: LICENSE_KEY })).json.is_license_active).toBe(false)
    expect((await host.call('POST', LICENSE, { headers: admin.headers, json: { key: LICENSE_KEY } })).status).toBe(200)
    const answer = await host.call('POST', `${LICENSE}?_method=delete`, { headers: admin.headers, json: {} })
    expect(answer.json.is_license_active).toBe(false)
  })

  it.each(ADMIN_ROUTES.filter(({ method }) => method === 'POST'))(
    'is refused where the route of POST $path lacks the method, or nobody knows it',
    async ({ path, json }) => {
      const before = await host.snapshot()
      const known = ADMIN_ROUTES.filter((route) => route.path === path).map(({ method }) => method)
      const others = ['PUT', 'PATCH', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'TRACE', '', 'post, delete']
      for (const method of others.filter((name) => !known.includes(name) || name === 'GET')) {
        const answer = await callAs(method, path, json)
        expect([answer.status, answer.json.code], method).toEqual([405, 'rest_method_not_allowed'])
        expect(answer.headers.allow).toContain('POST')
      }
      expect(await host.snapshot()).toEqual(before)
    },
  )

  it('passes every check of that method, and no other method becomes another one', async () => {
    const refused = [
      await callAs('DELETE', SETTINGS, undefined, {}),
      await callAs('DELETE', SETTINGS, undefined, { cookie: admin.cookie }),
      await callAs('DELETE', SETTINGS, undefined, { ...admin.headers, 'x-host-nonce': 'A'.repeat(32) }),
      await callAs('DELETE', SETTINGS, undefined, { ...admin.headers, 'sec-fetch-site': 'cross-site' }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 403, 403])
    const headers = { ...admin.headers, 'x-http-method-override': 'DELETE' }
    expect((await host.call('GET', SETTINGS, { headers })).json).toMatchObject({ logic: 'allow' })
    expect((await host.call('PATCH', SETTINGS, { headers, json: { logic: 'allow' } })).status).toBe(200)
    expect((await host.registry.options.get('sessmgr_settings'))?.value).toEqual({ logic: 'allow' })
  })
})
