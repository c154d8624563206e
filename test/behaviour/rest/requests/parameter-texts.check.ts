import { expect, it } from 'vitest'
import { type Texts, textCatalogue } from '../../../../src/index.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import type { RestAnswer } from '../../../support/rest-client.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES, PAGE_ROUTES, pathOf } from '../../../support/rest-routes.ts'

type Call = readonly [method: string, path: string, json?: object | undefined]

const own = Object.entries(textCatalogue.texts).filter(([key]) => key.startsWith('rest_param_'))
/** The texts of a language that is English in brackets. */
const bracketed: Texts = Object.fromEntries(own.map(([key, text]) => [key, `[${text}]`]))
const texts = (request: { headers: Record<string, string> }) => (request.headers['accept-language'] ? bracketed : {})
const host = forThisFile(() => startRestHost({ sessmgr: { texts, settings: { maximum: 99 } } }))

const BAD = ['', 'x', '0', '9'.repeat(30), '\u0007', 'x'.repeat(11_000), -1, 1.5, null, true, ['x'], {}]

/** Calls with one bad parameter: each that the OpenAPI document names, once, because routes share the rules of a name. */
function badCalls(document: RestAnswer['json']): Call[] {
  const calls = new Map<string, Call[]>()
  for (const { method, path } of [...ADMIN_ROUTES, ...PAGE_ROUTES, ...OWN_SESSION_ROUTES]) {
    const { parameters, requestBody } = document.paths[pathOf({ path })][method.toLowerCase()]
    const inQuery = parameters.flatMap((one: { in: string; name: string }) => (one.in === 'query' ? [one.name] : []))
    const [bare = ''] = path.split('?')
    const who = /\/(sessions|explain)/.test(path) && !path.includes('/me/') ? { user: 'alice' } : {}
    for (const name of [...inQuery, ...Object.keys(requestBody?.content['application/json'].schema.properties ?? {})]) {
      if (calls.has(`${method === 'GET'} ${name}`) || path.includes('license')) continue
      const bad = BAD.map((value): Call => {
        if (method !== 'GET') return [method, bare, { ...who, [name]: value }]
        const twice = Array.isArray(value) ? `&${name}=x` : ''
        return [method, `${bare}?${new URLSearchParams({ ...who, [name]: String(value) })}${twice}`]
      })
      calls.set(`${method === 'GET'} ${name}`, bad)
    }
  }
  return [...calls.values()].flat()
}

it('rule 40: what is wrong with a parameter is in the language of the reader, whatever the parameter', async () => {
  await host.arrange()
  const { headers } = await host.signIn('admin')
  const { json: document } = await host.call('GET', '/sessmgr/v1/openapi.json', { headers })
  const calls: Call[] = [
    ...badCalls(document),
    ['POST', '/sessmgr/v1/settings'],
    ['POST', '/sessmgr/v1/sessions/destroy', { user: 'alice', colour: 'red' }],
    ['POST', '/sessmgr/v1/sessions/destroy', { user: 'alice', login: 'alice' }],
    ['POST', '/sessmgr/v1/sessions/destroy', { user: 'alice', token: 'a'.repeat(64), tokens: ['a'.repeat(64)] }],
    ['POST', '/wp/v2/settings', { sessmgr_settings: 5 }],
    ['POST', '/sessmgr/v1/addons/1001/license', { key: 'x'.repeat(10_001) }],
    ['GET', '/sessmgr/v1/settings/colour'],
    ['GET', '/sessmgr/v1/audit?cursor=zz'],
  ]
  expect(calls.length).toBeGreaterThan(100)
  const said = new Set<string>()
  for (const [method, path, json] of calls) {
    const problems = async (more: object): Promise<Record<string, string>> => {
      const { status, json: body } = await host.call(method, path, { headers: { ...headers, ...more }, json })
      return (status === 400 && body.data.params) || {}
    }
    const english = await problems({})
    for (const text of Object.values(english)) said.add(text)
    const expected = Object.entries(english).map(([name, text]) => [name, `[${text}]`])
    const what = `${method} ${path} ${JSON.stringify(json)}`.slice(0, 200)
    expect(await problems({ 'accept-language': 'xx' }), what).toEqual(Object.fromEntries(expected))
  }
  expect(said.size).toBeGreaterThan(20)
})
