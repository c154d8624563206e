import { beforeAll, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
beforeAll(async () => void (await host.signIn('alice')))
const call = (method: string, path: string, json?: object) =>
  host.call(method, path, { headers, ...(json && { json }) })

describe('a write whose parameter is in the query', () => {
  it.each([
    ['POST', '/sessmgr/v1/settings?maximum=3', {}, 'maximum'],
    ['PUT', '/sessmgr/v1/settings?maximum=3', { logic: 'block' }, 'maximum'],
    ['PATCH', '/sessmgr/v1/settings?logic=block&logic=ask', {}, 'logic'],
    ['POST', '/sessmgr/v1/settings?_method=PUT&maximum=3', {}, 'maximum'],
    ['POST', '/wp/v2/settings?sessmgr_settings=3', {}, 'sessmgr_settings'],
    ['POST', '/sessmgr/v1/sessions/destroy?user=alice', {}, 'user'],
    ['POST', `/sessmgr/v1/sessions/destroy?token=${'a'.repeat(64)}`, { user: 'alice' }, 'token'],
    ['POST', '/sessmgr/v1/users/erase?user=alice', { user: 'alice' }, 'user'],
    ['POST', '/sessmgr/v1/addons/1001/license?key=K', { key: 'K' }, 'key'],
  ])('%s %s gets 400, and nothing changes', async (method, path, json, name) => {
    const before = await host.snapshot()
    const answer = await call(method, path, json)
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        code: 'rest_invalid_param',
        message: `Invalid parameter(s): ${name}. Nothing was changed.`,
        data: { status: 400, params: { [name]: 'must be in the body; the query is not read' } },
      },
    ])
    expect(await host.snapshot()).toEqual(before)
  })

  it('may have other names in the query, as WordPress clients send them', async () => {
    for (const path of ['/sessmgr/v1/settings', '/wp/v2/settings']) {
      expect((await call('POST', `${path}?_locale=user&x=1`, {})).status).toBe(200)
    }
    expect((await call('DELETE', '/sessmgr/v1/settings/maximum?key=logic')).status).toBe(200)
  })
})
