import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import type { RestAnswer } from '../../../support/rest-client.ts'
import { startRestHost } from '../../../support/rest-host.ts'

const MEGABYTE = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }
const SETTINGS = '/sessmgr/v1/settings'
const SESSIONS = '/sessmgr/v1/sessions'
const DESTROY = `${SESSIONS}/destroy`

let before: unknown
const host = forThisFile(() => startRestHost())
const script = forThisFile(() => host.scriptOf('admin'))
beforeAll(async () => void (await host.signIn('alice')))
beforeEach(async () => {
  before = await host.snapshot()
})

/** Refused in the one shape (rule 18); nothing written, nothing logged, and no part of what was sent comes back. */
async function expectRefusal(answer: RestAnswer, status: number, code: string, what: string): Promise<void> {
  const data = expect.objectContaining({ status })
  expect([answer.status, answer.json], what).toEqual([status, { code, message: expect.any(String), data }])
  expect(answer.headers['content-type'], what).toBe('application/json; charset=utf-8')
  expect(answer.headers['cache-control'], 'rule 26').toBe('no-store')
  expect(answer.text, what).not.toContain('canary')
  expect(await host.snapshot(), what).toEqual(before)
  expect(host.logs, what).toEqual([])
}

// The router reads every body, also for a route that needs none.
describe('the body of a request, rule 18:', () => {
  const send = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE, path = DESTROY) =>
    host.call('POST', path, { headers: { ...script, ...headers }, body })

  it('refuses a megabyte of anything, of a stranger without reading it, and the connection goes on', async () => {
    for (const body of [
      `{"user":"${'x'.repeat(MEGABYTE)}"}`,
      ' '.repeat(MEGABYTE),
      '['.repeat(MEGABYTE),
      `{${Array.from({ length: 80_000 }, (_, n) => `"key${n}":${n}`).join()}}`,
    ]) {
      await expectRefusal(await send(body), 413, 'rest_payload_too_large', body.slice(0, 20))
      expect((await host.call('GET', SETTINGS, { headers: script })).status).toBe(200)
    }
    const stranger = await host.call('POST', DESTROY, { headers: JSON_TYPE, body: 'x'.repeat(MEGABYTE) })
    await expectRefusal(stranger, 401, 'rest_forbidden', 'a stranger')
  })

  it('refuses every content type but application/json, and a body without one', async () => {
    const body = '{"user":"canary"}'
    const types = ['text/plain', 'text/json', 'application/x-www-form-urlencoded', 'application/json5', 'x', '']
    for (const headers of [...types.map((type) => ({ 'content-type': type })), {}]) {
      await expectRefusal(await send(body, headers), 415, 'rest_unsupported_media_type', JSON.stringify(headers))
    }
  })

  it('refuses what is no JSON object, and keys that are there twice or reach a prototype', async () => {
    for (const body of [
      'canary',
      'maximum=2',
      '{"user":"canary"',
      '[{"user":"canary"}]',
      'null',
      '{"user":"canary","user":"alice"}',
      '{"user":"canary","\\u0075ser":"alice"}',
      '{"a":{"b":[{"c":1,"c":2}]}}',
      '{"__proto__":{"user":"canary"}}',
      '{"a":[{"\\u005f_proto__":{"polluted":1}}]}',
      '{"user":"can\nary"}',
      '{"user":"can\u0000ary"}',
      Buffer.concat([Buffer.from('{"user":"'), Buffer.of(0xff, 0xfe, 0xc3), Buffer.from('"}')]),
    ]) {
      await expectRefusal(await send(body), 400, 'rest_invalid_json', String(body))
    }
    await expectRefusal(await send('canary', JSON_TYPE, `${DESTROY}-all`), 400, 'rest_invalid_json', 'no fields')
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('the content of a body or a query', () => {
  it('may have keys that look alike but are none', async () => {
    for (const body of [
      '{"a":{"user":"alice"},"b":{"user":"alice"},"user":"nobody"}',
      ' \n{"user":"nobody","list":["user","user"],"text":"\\"user\\":1,\\"user\\":2","proto":"__proto__"} ',
    ]) {
      const headers = { ...script, ...JSON_TYPE }
      const answer = await host.call('DELETE', '/sessmgr/v1/application-passwords/none', { headers, body })
      await expectRefusal(answer, 404, 'user_not_found', body)
    }
  })

  it('is refused where an array or an object stands for a text, or a name is there twice', async () => {
    for (const [path, json] of [
      [DESTROY, { user: ['alice'] }],
      [DESTROY, { user: 'alice', token: ['x'] }],
      [DESTROY, { user: 'alice', token: null }],
      [SETTINGS, { logic: { allow: true } }],
      ['/wp/v2/settings', { sessmgr_settings: [{ maximum: 3 }] }],
    ] as const) {
      const answer = await host.call('POST', path, { headers: script, json })
      await expectRefusal(answer, 400, 'rest_invalid_param', JSON.stringify(json))
    }
    for (const [query, code] of [
      ['user=alice&user=bob', 'rest_invalid_param'],
      ['user[]=alice', 'missing_identifier'],
      ['user[login]=alice', 'missing_identifier'],
      ['user=', 'missing_identifier'],
    ] as const) {
      await expectRefusal(await host.call('GET', `${SESSIONS}?${query}`, { headers: script }), 400, code, query)
    }
    for (const user of ['alice%00', '%ff%fe', '%', '%zz']) {
      const answer = await host.call('GET', `${SESSIONS}?user=${user}`, { headers: script })
      await expectRefusal(answer, 404, 'user_not_found', user)
    }
  })

  it('of a write is read from the body alone: a parameter in the query gets 400, any other name there is ignored', async () => {
    for (const [method, path, json, name] of [
      ['PUT', `${SETTINGS}?maximum=3`, { logic: 'block' }, 'maximum'],
      ['POST', `${SETTINGS}?_method=PUT&maximum=3`, {}, 'maximum'],
      ['POST', '/wp/v2/settings?sessmgr_settings=3', {}, 'sessmgr_settings'],
      ['POST', `${DESTROY}?token=${'a'.repeat(64)}`, { user: 'alice' }, 'token'],
      ['POST', '/sessmgr/v1/users/erase?user=alice', { user: 'alice' }, 'user'],
    ] as const) {
      const answer = await host.call(method, path, { headers: script, json })
      await expectRefusal(answer, 400, 'rest_invalid_param', path)
      expect(answer.json.message).toBe(`Invalid parameter(s): ${name}. Nothing was changed.`)
      expect(answer.json.data.params).toEqual({ [name]: 'must be in the body; the query is not read' })
    }
    for (const path of [SETTINGS, '/wp/v2/settings']) {
      const answer = await host.call('POST', `${path}?_locale=user&x=1`, { headers: script, json: {} })
      expect(answer.status).toBe(200)
    }
    expect((await host.call('DELETE', `${SETTINGS}/maximum?key=logic`, { headers: script })).status).toBe(200)
  })
})
