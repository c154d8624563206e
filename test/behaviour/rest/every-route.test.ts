import { beforeEach, expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../support/for-this-file.ts'
import type { RestAnswer, RestCall } from '../../support/rest-client.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES, PAGE_ROUTES, pathOf, type RouteCall } from '../../support/rest-routes.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD', 'TRACE', '', 'post, delete']

type Refusal = readonly [who: string, status: number, code: string, headers: RestCall['headers'], body?: string]

const host = forThisFile(() => startRestHost())
const script = forThisFile(() => host.scriptOf('admin'))
const document = forThisFile<RestAnswer['json']>(
  async () => (await host.call('GET', '/sessmgr/v1/openapi.json', { headers: script })).json,
)

let admin: SignedIn
let before: unknown
async function arrange() {
  await host.registry.options.delete('sessmgr_settings')
  await host.arrange()
  admin = await host.signIn('admin')
  before = await host.snapshot()
}
beforeEach(arrange)

const isPage = (route: RouteCall) => PAGE_ROUTES.includes(route)
const knownOf = (path: string) =>
  [...ADMIN_ROUTES, ...PAGE_ROUTES].filter((route) => route.path === path).map(({ method }) => method)

/** What each route has to refuse by itself. Everything else is checked before any route is asked. */
async function refusalsOf(route: RouteCall): Promise<Refusal[]> {
  const editor = await host.signIn('carol')
  const ofAll: Refusal[] = [
    ['a stranger', 401, 'rest_forbidden', {}],
    ['an editor', 403, 'rest_forbidden', editor.headers],
    ...(isPage(route) ? [['an application password', 401, 'rest_forbidden', script] as const] : []),
  ]
  if (route.method === 'GET') return ofAll
  return [
    ...ofAll,
    ['rule 19: a stranger whose body is broken', 401, 'rest_forbidden', JSON_TYPE, '{"maximum": broken'],
    ['another site', 403, 'rest_cross_origin', { ...admin.headers, 'sec-fetch-site': 'cross-site' }],
    ['a body that is no JSON', 400, 'rest_invalid_json', { ...admin.headers, ...JSON_TYPE }, 'canary'],
  ]
}

async function expectRefusals(route: RouteCall): Promise<void> {
  const { method, path, json } = route
  const refusals = await refusalsOf(route)
  before = await host.snapshot()
  for (const [who, status, code, headers, body] of refusals) {
    const answer = await host.call(method, path, { headers, ...(body === undefined ? { json } : { body }) })
    expect([answer.status, answer.headers['cache-control'], answer.json.code], who).toEqual([status, 'no-store', code])
    expect(answer.text).not.toContain('canary')
  }
  if (method === 'GET') return
  const asGet = `${path}?maximum=9&user=alice&sessmgr_settings[maximum]=9&_method=${method}`
  const headers = { ...admin.headers, 'x-http-method-override': method }
  expect([200, 405]).toContain((await host.call('GET', asGet, { headers })).status)
  const unknown = METHODS.filter((name) => !knownOf(path).includes(name) || name === 'GET')
  for (const name of method === 'POST' ? unknown : []) {
    const answer = await host.call(method, path, { headers: { ...headers, 'x-http-method-override': name }, json })
    expect([answer.status, answer.json.code], `rule 64: as ${name}`).toEqual([405, 'rest_method_not_allowed'])
    expect(answer.headers.allow).toContain('POST')
  }
}

/** The schema, with no other fields than it names wherever it does not say that there may be any. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, strict(part)]))
  return 'properties' in parts ? { additionalProperties: false, ...parts } : parts
}

async function expectDescribed({ method, path, isFile }: RouteCall, answer: RestAnswer): Promise<void> {
  const { content } = document.paths[pathOf({ path })][method.toLowerCase()].responses[200]
  if (isFile) {
    expect(Object.keys(content)).toContain(answer.headers['content-type']?.split(';')[0])
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="[\w.]+"$/)
    return
  }
  const schema = z.fromJSONSchema(strict(content['application/json'].schema) as z.core.JSONSchema.JSONSchema)
  const problem = 'An answer has other fields than the schema of its route: add them there.'
  expect(schema.safeParse(answer.json).error?.issues ?? [], problem).toEqual([])
  expect(schema.safeParse([answer.json]).success).toBe(false)
  if (path.startsWith('/wp/') || path.endsWith('/openapi.json')) return
  for (const key of Object.keys(answer.json)) {
    const { [key]: _missing, ...rest } = answer.json
    expect(schema.safeParse(rest).success, `without ${key}`).toBe(false)
  }
}

it.each([...ADMIN_ROUTES, ...PAGE_ROUTES])(
  'rules 19, 26 and 64: $method $path is for administrators, and answers as described',
  async (route) => {
    const { method, path, json, changesNothing } = route
    const changes = method !== 'GET' && !changesNothing
    await expectRefusals(route)
    expect(await host.snapshot()).toEqual(before)

    const answer = await host.call(method, path, { headers: isPage(route) ? admin.headers : script, json })
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    if (changes) expect(await host.snapshot()).not.toEqual(before)
    else expect(await host.snapshot()).toEqual(before)
    await expectDescribed(route, answer)

    if (method === 'GET' || method === 'POST') return
    await arrange()
    const headers = { ...admin.headers, 'x-http-method-override': method }
    expect((await host.call('POST', path, { headers, json })).status).toBe(200)
    expect(await host.snapshot(), 'rule 64').not.toEqual(before)
  },
)

it('these are all routes that there are', () => {
  const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const tested = [...ADMIN_ROUTES, ...PAGE_ROUTES, ...OWN_SESSION_ROUTES]
  expect(tested.map((route) => `${route.method} ${pathOf(route)}`).toSorted()).toEqual(described.toSorted())
})
