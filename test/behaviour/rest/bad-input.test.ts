import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { basic, type RestAnswer } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { UNSAFE_ROUTES } from '../../support/rest-routes.ts'

const MEGABYTE = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }
const SETTINGS = '/sessmgr/v1/settings'

let before: unknown
const host = forThisFile(() => startRestHost())
const script = forThisFile(() => host.scriptOf('admin'))
beforeAll(async () => void (await host.signIn('alice')))
beforeEach(async () => {
  before = await host.snapshot()
})

/** Refused in the one shape; nothing written, nothing logged, and no part of what was sent comes back. */
async function expectRefusal(answer: RestAnswer, status: number, code: string, sent = 'canary'): Promise<void> {
  expect([answer.status, answer.json]).toEqual([
    status,
    { code, message: expect.any(String), data: expect.objectContaining({ status }) },
  ])
  expect(answer.text).not.toContain(sent)
  expect(await host.snapshot()).toEqual(before)
  expect(host.logs).toEqual([])
}

/** The router reads every body: a route with fields of its own, and one without, show what it takes. */
const TYPICAL = UNSAFE_ROUTES.filter(
  ({ method, path }) => path.endsWith('/sessions/destroy') || (method === 'DELETE' && path === SETTINGS),
)

it.each(UNSAFE_ROUTES)('$method $path refuses a body that is no JSON', async ({ method, path }) => {
  const answer = await host.call(method, path, { headers: { ...script, ...JSON_TYPE }, body: 'canary' })
  await expectRefusal(answer, 400, 'rest_invalid_json')
})

describe.each(TYPICAL)('$method $path', ({ method, path, json = {} }) => {
  const send = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
    host.call(method, path, { headers: { ...script, ...headers }, body })

  it.each([
    ['one long text', () => `{"user":"${'x'.repeat(MEGABYTE)}"}`],
    ['blanks', () => ' '.repeat(MEGABYTE)],
    ['opening brackets', () => '['.repeat(MEGABYTE)],
    ['many keys', () => `{${Array.from({ length: 80_000 }, (_, n) => `"key${n}":${n}`).join()}}`],
  ])('refuses a megabyte of %s, and the connection goes on', async (_what, body) => {
    await expectRefusal(await send(body()), 413, 'rest_payload_too_large')
    expect((await host.call('GET', SETTINGS, { headers: script })).status).toBe(200)
  })

  it('refuses a megabyte of a stranger without reading it', async () => {
    const answer = await host.call(method, path, { headers: JSON_TYPE, body: 'x'.repeat(MEGABYTE) })
    await expectRefusal(answer, 401, 'rest_forbidden')
  })

  it.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/json5',
    'x',
    '',
  ])('refuses the content type %j', async (type) => {
    await expectRefusal(await send(JSON.stringify(json), { 'content-type': type }), 415, 'rest_unsupported_media_type')
  })

  it('refuses a body without a content type', async () => {
    await expectRefusal(await send('{"user":"canary"}', {}), 415, 'rest_unsupported_media_type')
  })

  it.each([
    'canary',
    '{"user":"canary"',
    '{"user":"canary",}',
    "{'user':'canary'}",
    '{"user":"canary"}}',
    '[{"user":"canary"}]',
    '"canary"',
    'null',
    'true',
    '5',
    '[]',
    '{"user":"canary","user":"alice"}',
    '{"user":"canary","\\u0075ser":"alice"}',
    '{"a":{"b":[{"c":1,"c":2}]}}',
    '{"__proto__":{"user":"canary"}}',
    '{"a":[{"\\u005f_proto__":{"polluted":1}}]}',
    '{"user":"can\nary"}',
    '{"user":"can\u0000ary"}',
  ])('refuses the body %j', async (body) => {
    await expectRefusal(await send(body), 400, 'rest_invalid_json')
    expect({}).not.toHaveProperty('polluted')
  })

  it('refuses bytes that are no UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"user":"'), Buffer.of(0xff, 0xfe, 0xc3), Buffer.from('"}')])
    await expectRefusal(await send(body), 400, 'rest_invalid_json')
  })
})

describe('keys that look alike but are none', () => {
  it.each([
    '{"a":{"user":"alice"},"b":{"user":"alice"},"user":"nobody"}',
    '{"user":"nobody","list":["user","user"],"text":"\\"user\\":1,\\"user\\":2"}',
    '{"user":"nobody","proto":"__proto__"}',
    ' \n{ "user" : "nobody" } ',
  ])('leave the body %j as it is', async (body) => {
    const answer = await host.call('DELETE', '/sessmgr/v1/application-passwords/none', {
      headers: { ...script, ...JSON_TYPE },
      body,
    })
    await expectRefusal(answer, 404, 'user_not_found')
  })
})

describe('arrays and objects where a text belongs', () => {
  it.each([
    ['/sessmgr/v1/sessions/destroy', { user: ['alice'] }],
    ['/sessmgr/v1/sessions/destroy', { user: { $ne: '' } }],
    ['/sessmgr/v1/sessions/destroy', { user: 'alice', token: ['x'] }],
    ['/sessmgr/v1/sessions/destroy', { user: 'alice', token: '' }],
    ['/sessmgr/v1/sessions/destroy', { user: 'alice', token: null }],
    [SETTINGS, { maximum: [3] }],
    [SETTINGS, { logic: { allow: true } }],
    ['/wp/v2/settings', { sessmgr_settings: [{ maximum: 3 }] }],
  ])('are refused by %s: %j', async (path, json) => {
    await expectRefusal(await host.call('POST', path, { headers: script, json }), 400, 'rest_invalid_param')
  })

  it.each(['user=alice&user=bob', 'user[]=alice', 'user[login]=alice', 'user='])(
    'are refused in the query ?%s',
    async (query) => {
      const answer = await host.call('GET', `/sessmgr/v1/sessions?${query}`, { headers: script })
      const code = query.startsWith('user=alice') ? 'rest_invalid_param' : 'missing_identifier'
      await expectRefusal(answer, 400, code)
    },
  )
})

describe('control characters', () => {
  it.each(['ali\0ce', 'alice\x1b[2J', 'ali\rce', 'ali\r\nSet-Cookie: x=1\r\nce', '\x7falice', 'ali\u2028ce', '\ud800'])(
    'in the user %j find nobody',
    async (user) => {
      const answer = await host.call('POST', '/sessmgr/v1/sessions/destroy', { headers: script, json: { user } })
      await expectRefusal(answer, 404, 'user_not_found')
      expect(answer.headers['set-cookie']).toBeUndefined()
    },
  )

  it.each(['%00', 'alice%00', 'alice%0d%0aX: y', '%ff%fe', '%', '%zz'])(
    'in the query ?user=%s find nobody',
    async (user) => {
      const path = `/sessmgr/v1/sessions?user=${user.replace(' ', '%20')}`
      await expectRefusal(await host.call('GET', path, { headers: script }), 404, 'user_not_found')
    },
  )
})

describe('a broken Authorization header', () => {
  const encode = (text: string) => Buffer.from(text).toString('base64')

  it.each([
    'Basic',
    'Basic ',
    'Basic !!!!',
    'Basic canary',
    `Basic ${encode('admin')}`,
    `Basic ${encode(':canary')}`,
    `Basic ${encode('admin:can\0ary')}`,
    `Basic ${encode('admin\n:canary')}`,
    `Basic ${Buffer.of(0x61, 0x3a, 0xff).toString('base64')}`,
    `Basic ${'A'.repeat(8000)}`,
    'Bearer canary',
    `Digest username="admin", response="canary"`,
    'Negotiate',
    'canary',
    ' ',
  ])('is refused: %j', async (authorization) => {
    for (const [method, path] of [
      ['GET', SETTINGS],
      ['POST', '/sessmgr/v1/sessions/destroy-all'],
    ] as const) {
      const answer = await host.call(method, path, { headers: { authorization } })
      await expectRefusal(answer, 401, 'rest_forbidden')
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/)
    }
  })

  it('is nothing to a call with a session and a good nonce, which it may have from a proxy', async () => {
    const admin = await host.signIn('admin')
    before = await host.snapshot()
    for (const authorization of ['', 'Basic', 'Bearer canary', ...Object.values(basic('admin', 'wrong'))]) {
      const answer = await host.call('GET', SETTINGS, { headers: { ...admin.headers, authorization } })
      expect(answer.status).toBe(200)
    }
  })
})

describe('a request that Node itself refuses', () => {
  it.each([
    ['a NUL in a header', ['X-HOST-Nonce: a\0b']],
    ['16 kB of a header', [`X-HOST-Nonce: ${'a'.repeat(17_000)}`]],
    ['two lengths', ['Content-Length: 5']],
  ])('has no effect either: %s', async (_what, headers) => {
    const head = [
      'POST /api/sessmgr/v1/sessions/destroy-all HTTP/1.1',
      'Host: a',
      `Authorization: ${script.authorization}`,
    ]
    const [status] = await rawRequest(host.origin, [...head, ...headers])
    expect([400, 431]).toContain(status)
    expect(await host.snapshot()).toEqual(before)
  })

  it('or whose sender leaves in the middle of the body', async () => {
    const head = ['POST /api/sessmgr/v1/settings HTTP/1.1', 'Host: a', `Authorization: ${script.authorization}`]
    const { connect } = await import('node:net')
    const { hostname, port } = new URL(host.origin)
    const socket = connect(Number(port), hostname)
    socket.write([...head, 'Content-Type: application/json', 'Content-Length: 15', '', '{"maximum":'].join('\r\n'))
    await new Promise((resolve) => setTimeout(resolve, 30))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(await host.snapshot()).toEqual(before)
    expect(host.logs).toEqual([])
    expect((await host.call('GET', SETTINGS, { headers: script })).status).toBe(200)
  })
})
