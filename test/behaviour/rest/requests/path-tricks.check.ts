import { beforeEach, expect, it } from 'vitest'
import { forThisFile } from '../../../support/for-this-file.ts'
import { rawRequest } from '../../../support/raw-request.ts'
import { type SignedIn, startRestHost } from '../../../support/rest-host.ts'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 3, logic: 'block' } } }))
let admin: SignedIn
let alice: SignedIn
beforeEach(async () => {
  admin = await host.signIn('admin')
  alice = await host.signIn('alice')
})

const replacedAt = (path: string, at: number, by: string) => path.slice(0, at) + by + path.slice(at + 1)
const SEPARATORS = '// /./ /x/../ /%2e/ /x/%2e%2e/ /..;/ /\\ %2f %5c /;a=b/ %c0%af \u2215'.split(' ')
const ENDINGS =
  '/ // /. /.. /%2e /x/.. ; ;a=b .json %20 %00 %0d%0aX:%20y %23 %3f ? ?/ # /#/ ?_method=POST % %zz %u0061'.split(' ')
const STARTS = [
  ...['/API', '/api/hello/..', '/api/../api', '/%c0%ae%c0%ae/api', '//127.0.0.1/api', '/api/api', 'api', '//api'],
  ...['http://127.0.0.1/api', 'http://evil.example/api', 'https://admin@127.0.0.1/api'],
]

/** Other spellings of a path, by which one part of a server may mean what another does not. */
function spellings(path: string): string[] {
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index)
  const letter = path.lastIndexOf('/') + 2
  const hex = `%${path.charCodeAt(letter).toString(16)}`
  return [
    ...slashes.flatMap((at) => SEPARATORS.map((separator) => replacedAt(path, at, separator))),
    ...ENDINGS.map((ending) => path + ending),
    ...STARTS.map((start) => path.replace('/api', start)),
    ...[hex, hex.replace('%', '%25'), (path[letter] ?? '').toUpperCase()].map((by) => replacedAt(path, letter, by)),
    path.toUpperCase(),
    ...['\u017f', '%c5%bf'].map((long) => path.replaceAll('s', long)),
  ]
}

/** Headers by which some servers let a request be another one. */
const OVERRIDES = [
  ...['X-HTTP-Method-Override: POST', 'X-HTTP-Method: POST', 'X-Method-Override: PUT', 'X-Original-Method: GET'],
  ...['X-Original-URL: /hello', 'X-Rewrite-URL: /hello', 'X-Forwarded-Prefix: /hello'],
  ...['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1', 'X-Remote-User: admin', 'X-Forwarded-User: admin'],
]

/** Cookie and nonce as lines of a request. */
const linesOf = ({ headers }: SignedIn) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

function send(method: string, path: string, headers: readonly string[], body: string) {
  const type = 'Content-Type: application/json'
  return rawRequest(host.origin, [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', type, ...headers], body)
}

it.each([
  ['PUT', '/api/sessmgr/v1/settings', '{"maximum":9}'],
  ['GET', '/api/sessmgr/v1/sessions?user=admin', ''],
])('%s %s has no spelling that gets past the checks, and no header makes another request of it', async (...call) => {
  const [method, path, body] = call
  const before = await host.snapshot()
  // Whoever gets past a check as a stranger does so as a subscriber, too.
  const callers = { 'a subscriber': linesOf(alice), 'an administrator without a nonce': [`Cookie: ${admin.cookie}`] }
  for (const [who, headers] of Object.entries(callers)) {
    for (const spelling of [path, ...spellings(path)]) {
      const [status, text] = await send(method, spelling, headers, body)
      expect([400, 401, 403, 404, 405], `${method} ${spelling} of ${who}`).toContain(status)
      expect(text, spelling).not.toContain(admin.token)
    }
    for (const header of OVERRIDES) {
      const [status] = await send(method, path, [header, ...headers], body)
      expect([401, 403], `${header} of ${who}`).toContain(status)
    }
  }
  // Not even for somebody who may: a GET stays a GET.
  for (const header of method === 'GET' ? [] : OVERRIDES) {
    await send('GET', `${path}?_method=${method}&maximum=9`, [header, ...linesOf(admin)], body)
  }
  expect(await host.snapshot()).toEqual(before)

  const [status, text] = await send(method, path, linesOf(admin), body)
  expect(status, 'what an administrator may do').toBe(200)
  if (method === 'GET') expect(text).toContain(admin.token)
  else expect(await host.snapshot()).not.toEqual(before)
})
