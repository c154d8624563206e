import { beforeAll, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 3, logic: 'block' } } }))
let admin: SignedIn
beforeAll(async () => {
  admin = await host.signIn('admin')
})
const subscriber = forThisFile(() => host.signIn('alice'))

const TARGETS = [
  ['POST', '/api/sessmgr/v1/sessions/destroy-all', ''],
  ['POST', '/api/sessmgr/v1/sessions/destroy', '{"user":"admin"}'],
  ['PUT', '/api/sessmgr/v1/settings', '{"maximum":9}'],
  ['GET', '/api/sessmgr/v1/sessions', ''],
  ['PATCH', '/api/wp/v2/settings', '{"sessmgr_settings":{"maximum":9}}'],
] as const

const hex = (text: string, at: number) => `%${text.charCodeAt(at).toString(16)}`
const replacedAt = (path: string, at: number, by: string) => path.slice(0, at) + by + path.slice(at + 1)
const slashesOf = (path: string) => [...path.matchAll(/\//g)].map(({ index }) => index)

/** Other spellings of a path, by which one part of a server may mean what another does not. */
function spellings(path: string): string[] {
  const slashes = slashesOf(path)
  const separators = [
    '//',
    '///',
    '/./',
    '/x/../',
    '/%2e/',
    '/x/%2e%2e/',
    '/..;/',
    '/.;/',
    '\\',
    '/\\',
    '%2f',
    '%5c',
    '/;a=b/',
  ]
  const endings = [
    '/',
    '//',
    '/.',
    '/..',
    '/%2e',
    '/x/..',
    ';',
    ';a=b',
    '.',
    '~',
    '.json',
    '.html',
    '%20',
    '%00',
    '%09',
  ]
  const more = [
    '%0a',
    '%0d%0aX:%20y',
    '%23',
    '%3f',
    '%3b',
    '?',
    '?/',
    '#',
    '/#/',
    '?_method=POST',
    '%',
    '%zz',
    '%u0061',
    ',',
  ]
  const letters = [...path.matchAll(/[a-z]/g)].map(({ index }) => index)
  const some = letters.filter((_, index) => index % 4 === 0)
  return [
    ...slashes.flatMap((at) => separators.map((separator) => replacedAt(path, at, separator))),
    ...[...endings, ...more].map((ending) => path + ending),
    ...some.map((at) => replacedAt(path, at, hex(path, at))),
    ...some.map((at) => replacedAt(path, at, hex(path, at).replace('%', '%25'))),
    ...some.map((at) => replacedAt(path, at, (path[at] ?? '').toUpperCase())),
    path.toUpperCase(),
    path.replace('/api', '/API'),
    path.replace('/api', '/api/hello/..'),
    path.replace('/api', '/api/../api'),
    path.replace('/api', '/%c0%ae%c0%ae/api'),
    path.replace('/api', '//127.0.0.1/api'),
    path.replace('/api', '/api/api'),
    path.replace('/api', ''),
    `http://127.0.0.1${path}`,
    `http://evil.example${path}`,
    `https://admin@127.0.0.1${path}`,
    path.slice(1),
    `/${path}`,
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
  'X-Host-Nonce-Override: 1',
  'Forwarded: for=127.0.0.1;host=127.0.0.1',
]

/** Cookie and nonce as lines of a request. */
const linesOf = ({ headers }: SignedIn) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

const callers: [name: string, headers: () => string[]][] = [
  ['a stranger', () => []],
  ['a subscriber', () => linesOf(subscriber)],
  ['an administrator without a nonce', () => [`Cookie: ${admin.cookie}`]],
]

const targetOf = (method: string, path: string) => (method === 'GET' ? `${path}?user=admin` : path)

const send = (method: string, path: string, headers: readonly string[], body: string) =>
  rawRequest(
    host.origin,
    [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/json', ...headers],
    body,
  )

describe('no other spelling of a path gets past the checks', () => {
  it('with 200 spellings and more of each', () => {
    for (const [, path] of TARGETS) expect(new Set(spellings(path)).size).toBeGreaterThanOrEqual(200 / TARGETS.length)
    expect(new Set(TARGETS.flatMap(([, path]) => spellings(path))).size).toBeGreaterThanOrEqual(200)
  })

  // Whoever gets past a check as a stranger does so as a subscriber, too.
  describe.each([TARGETS[0], TARGETS[2], TARGETS[3]])('of %s %s', (method, path, body) => {
    it.each(callers.slice(1))('by %s', async (_name, headers) => {
      const before = await host.snapshot()
      const target = targetOf(method, path)
      for (const spelling of [target, ...spellings(target)]) {
        const [status, text] = await send(method, spelling, headers(), body)
        expect([400, 401, 403, 404, 405], `${method} ${spelling}`).toContain(status)
        expect(text, spelling).not.toContain(admin.token)
      }
      expect(await host.snapshot()).toEqual(before)
    })
  })
})

describe('no header makes a request another one', () => {
  it.each(OVERRIDES)('%s', async (header) => {
    const before = await host.snapshot()
    const nonce = linesOf(admin)
    for (const [method, path, body] of TARGETS) {
      for (const [, headers] of callers) {
        const [status] = await send(method, path, [header, ...headers()], body)
        expect([401, 403]).toContain(status)
      }
      // Not even for somebody who may: a GET stays a GET.
      if (method !== 'GET') await send('GET', `${path}?_method=${method}&maximum=9`, [header, ...nonce], body)
    }
    expect(await host.snapshot()).toEqual(before)
  })
})

describe('the calls themselves', () => {
  it.each(TARGETS)(
    '%s %s works for an administrator, so that the tests above could fail',
    async (method, path, body) => {
      const headers = linesOf(admin)
      const target = targetOf(method, path)
      const before = await host.snapshot()
      const [status, text] = await send(method, target, headers, body)
      expect(status).toBe(200)
      if (method === 'GET') expect(text).toContain(admin.token)
      else expect(await host.snapshot()).not.toEqual(before)
      admin = await host.signIn('admin')
    },
  )
})
