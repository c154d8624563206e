import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import { rawRequest } from '../../../support/raw-request.ts'
import { type SignedIn, startRestHost } from '../../../support/rest-host.ts'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 3, logic: 'block' } } }))
let admin: SignedIn
let callers: Record<string, string[]>
beforeEach(async () => {
  admin = await host.signIn('admin')
  callers = {
    'a stranger': [],
    'a subscriber': linesOf(await host.signIn('alice')),
    'an administrator without a nonce': [`Cookie: ${admin.cookie}`],
  }
})

const TARGETS = [
  ['POST', '/api/sessmgr/v1/sessions/destroy-all', ''],
  ['POST', '/api/sessmgr/v1/sessions/destroy', '{"user":"admin"}'],
  ['PUT', '/api/sessmgr/v1/settings', '{"maximum":9}'],
  ['GET', '/api/sessmgr/v1/sessions?user=admin', ''],
  ['PATCH', '/api/wp/v2/settings', '{"sessmgr_settings":{"maximum":9}}'],
] as const

const hex = (text: string, at: number) => `%${text.charCodeAt(at).toString(16)}`
const replacedAt = (path: string, at: number, by: string) => path.slice(0, at) + by + path.slice(at + 1)
const SEPARATORS = '// /// /./ /x/../ /%2e/ /x/%2e%2e/ /..;/ /.;/ \\ /\\ %2f %5c /;a=b/'.split(' ')
const ENDINGS =
  '/ // /. /.. /%2e /x/.. ; ;a=b . ~ .json .html %20 %00 %09 %0a %0d%0aX:%20y %23 %3f %3b ? ?/ # /#/ ?_method=POST % %zz %u0061 ,'.split(
    ' ',
  )

/** Other spellings of a path, by which one part of a server may mean what another does not. */
function spellings(path: string): string[] {
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index)
  const letters = [...path.matchAll(/[a-z]/g)].map(({ index }) => index)
  const some = letters.filter((_, index) => index % 4 === 0)
  const before = [
    '/API',
    '/api/hello/..',
    '/api/../api',
    '/%c0%ae%c0%ae/api',
    '//127.0.0.1/api',
    '/api/api',
    '',
    'http://127.0.0.1/api',
    'http://evil.example/api',
    'https://admin@127.0.0.1/api',
    'api',
    '//api',
  ]
  return [
    ...slashes.flatMap((at) => SEPARATORS.map((separator) => replacedAt(path, at, separator))),
    ...ENDINGS.map((ending) => path + ending),
    ...some.map((at) => replacedAt(path, at, hex(path, at))),
    ...some.map((at) => replacedAt(path, at, hex(path, at).replace('%', '%25'))),
    ...some.map((at) => replacedAt(path, at, (path[at] ?? '').toUpperCase())),
    path.toUpperCase(),
    ...before.map((start) => path.replace('/api', start)),
    path.replaceAll('s', '\u017f'),
    path.replaceAll('s', '%c5%bf'),
    path.replaceAll('/', '%c0%af'),
    path.replaceAll('/', '\u2215'),
    path.replaceAll('e', 'e%cc%81'),
    path.replaceAll('-', '%e2%80%90'),
  ]
}

/** Headers by which some servers let a request be another one. */
const OVERRIDES = [
  'X-HTTP-Method-Override: POST',
  'X-HTTP-Method: POST',
  'X-Method-Override: PUT',
  'X-Original-URL: /hello',
  'X-Rewrite-URL: /hello',
  'X-Original-Method: GET',
  'X-Forwarded-Prefix: /hello',
  'X-Forwarded-Host: 127.0.0.1',
  'X-Forwarded-For: 127.0.0.1',
  'X-Real-IP: 127.0.0.1',
  'X-Remote-User: admin',
  'X-Forwarded-User: admin',
  'Forwarded: for=127.0.0.1;host=127.0.0.1',
]

/** Cookie and nonce as lines of a request. */
const linesOf = ({ headers }: SignedIn) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

const send = (method: string, path: string, headers: readonly string[], body: string) =>
  rawRequest(
    host.origin,
    [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/json', ...headers],
    body,
  )

describe.each(TARGETS)('%s %s', (method, path, body) => {
  it('has no other spelling that gets past the checks, and no header makes another request of it', async () => {
    const before = await host.snapshot()
    const all = [path, ...spellings(path)]
    expect(new Set(all).size).toBeGreaterThan(100)
    // Whoever gets past a check as a stranger does so as a subscriber, too.
    for (const who of ['a subscriber', 'an administrator without a nonce']) {
      for (const spelling of all) {
        const [status, text] = await send(method, spelling, callers[who] ?? [], body)
        expect([400, 401, 403, 404, 405], `${method} ${spelling} of ${who}`).toContain(status)
        expect(text, spelling).not.toContain(admin.token)
      }
    }
    for (const header of OVERRIDES) {
      for (const [who, headers] of Object.entries(callers)) {
        const [status] = await send(method, path, [header, ...headers], body)
        expect([401, 403], `${header} of ${who}`).toContain(status)
      }
      // Not even for somebody who may: a GET stays a GET.
      if (method !== 'GET') await send('GET', `${path}?_method=${method}&maximum=9`, [header, ...linesOf(admin)], body)
    }
    expect(await host.snapshot()).toEqual(before)

    const [status, text] = await send(method, path, linesOf(admin), body)
    expect(status, 'what an administrator may do').toBe(200)
    if (method === 'GET') expect(text).toContain(admin.token)
    else expect(await host.snapshot()).not.toEqual(before)
    await host.limiter.sessions.endAll(1)
  })
})
