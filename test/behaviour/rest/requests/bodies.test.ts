import { connect } from 'node:net'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import { rawRequest } from '../../../support/raw-request.ts'
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

/** Refused in the one shape; nothing written, nothing logged, and no part of what was sent comes back. */
async function expectRefusal(answer: RestAnswer, status: number, code: string, what: string): Promise<void> {
  expect([answer.status, answer.json], what).toEqual([
    status,
    { code, message: expect.any(String), data: expect.objectContaining({ status }) },
  ])
  expect(answer.text, what).not.toContain('canary')
  expect(await host.snapshot(), what).toEqual(before)
  expect(host.logs, what).toEqual([])
}

// The router reads every body: a route with fields of its own, and one without, show what it takes.
describe.each([
  ['POST', DESTROY],
  ['DELETE', SETTINGS],
])('%s %s', (method, path) => {
  const send = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
    host.call(method, path, { headers: { ...script, ...headers }, body })

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
    const stranger = await host.call(method, path, { headers: JSON_TYPE, body: 'x'.repeat(MEGABYTE) })
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
      '{"user":"canary",}',
      "{'user':'canary'}",
      '{"user":"canary"}}',
      '[{"user":"canary"}]',
      '"canary"',
      'null',
      '5',
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
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('the content of a body or a query', () => {
  it('may have keys that look alike but are none', async () => {
    for (const body of [
      '{"a":{"user":"alice"},"b":{"user":"alice"},"user":"nobody"}',
      '{"user":"nobody","list":["user","user"],"text":"\\"user\\":1,\\"user\\":2"}',
      '{"user":"nobody","proto":"__proto__"}',
      ' \n{ "user" : "nobody" } ',
    ]) {
      const headers = { ...script, ...JSON_TYPE }
      const answer = await host.call('DELETE', '/sessmgr/v1/application-passwords/none', { headers, body })
      await expectRefusal(answer, 404, 'user_not_found', body)
    }
  })

  it('is refused where an array or an object stands for a text, or a name is there twice', async () => {
    for (const [path, json] of [
      [DESTROY, { user: ['alice'] }],
      [DESTROY, { user: { $ne: '' } }],
      [DESTROY, { user: 'alice', token: ['x'] }],
      [DESTROY, { user: 'alice', token: null }],
      [SETTINGS, { maximum: [3] }],
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
  })

  it('finds nobody by a name with control characters, or by what is no escape', async () => {
    for (const user of [
      'ali\0ce',
      'alice\x1b[2J',
      'ali\r\nSet-Cookie: x=1\r\nce',
      '\x7falice',
      'ali\u2028ce',
      '\ud800',
    ]) {
      const answer = await host.call('POST', DESTROY, { headers: script, json: { user } })
      await expectRefusal(answer, 404, 'user_not_found', user)
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
    for (const user of ['%00', 'alice%00', 'alice%0d%0aX:%20y', '%ff%fe', '%', '%zz']) {
      const answer = await host.call('GET', `${SESSIONS}?user=${user}`, { headers: script })
      await expectRefusal(answer, 404, 'user_not_found', user)
    }
  })

  it('of a write is read from the body alone: a parameter in the query gets 400, any other name there is ignored', async () => {
    for (const [method, path, json, name] of [
      ['POST', `${SETTINGS}?maximum=3`, {}, 'maximum'],
      ['PUT', `${SETTINGS}?maximum=3`, { logic: 'block' }, 'maximum'],
      ['PATCH', `${SETTINGS}?logic=block&logic=ask`, {}, 'logic'],
      ['POST', `${SETTINGS}?_method=PUT&maximum=3`, {}, 'maximum'],
      ['POST', '/wp/v2/settings?sessmgr_settings=3', {}, 'sessmgr_settings'],
      ['POST', `${DESTROY}?user=alice`, {}, 'user'],
      ['POST', `${DESTROY}?token=${'a'.repeat(64)}`, { user: 'alice' }, 'token'],
      ['POST', '/sessmgr/v1/users/erase?user=alice', { user: 'alice' }, 'user'],
      ['POST', '/sessmgr/v1/addons/1001/license?key=K', { key: 'K' }, 'key'],
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

describe('a header or a request that is broken', () => {
  it('signs in nobody, if it is Authorization', async () => {
    const encode = (text: string) => Buffer.from(text).toString('base64')
    for (const authorization of [
      'Basic ',
      'Basic !!!!',
      `Basic ${encode('admin')}`,
      `Basic ${encode(':canary')}`,
      `Basic ${encode('admin:can\0ary')}`,
      `Basic ${'A'.repeat(8000)}`,
      'Bearer canary',
      'Negotiate',
      ' ',
    ]) {
      for (const [method, path] of [
        ['GET', SETTINGS],
        ['POST', '/sessmgr/v1/sessions/destroy-all'],
      ] as const) {
        const answer = await host.call(method, path, { headers: { authorization } })
        await expectRefusal(answer, 401, 'rest_forbidden', authorization)
        expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/)
      }
    }
  })

  it('has no effect where Node refuses it, or its sender leaves in the middle', async () => {
    const head = (path: string) => [`POST /api${path} HTTP/1.1`, 'Host: a', `Authorization: ${script.authorization}`]
    for (const header of ['X-HOST-Nonce: a\0b', `X-HOST-Nonce: ${'a'.repeat(17_000)}`, 'Content-Length: 5']) {
      const [status] = await rawRequest(host.origin, [...head('/sessmgr/v1/sessions/destroy-all'), header])
      expect([400, 431], header.slice(0, 20)).toContain(status)
    }
    const { hostname, port } = new URL(host.origin)
    const socket = connect(Number(port), hostname)
    socket.write(
      [...head(SETTINGS), 'Content-Type: application/json', 'Content-Length: 15', '', '{"maximum":'].join('\r\n'),
    )
    await new Promise((resolve) => setTimeout(resolve, 30))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(await host.snapshot()).toEqual(before)
    expect(host.logs).toEqual([])
    expect((await host.call('GET', SETTINGS, { headers: script })).status).toBe(200)
  })
})
