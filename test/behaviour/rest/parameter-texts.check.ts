import { beforeAll, describe, expect, it } from 'vitest'
import { type Texts, textCatalogue } from '../../../src/index.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import type { RestAnswer } from '../../support/rest-client.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES, PAGE_ROUTES, pathOf } from '../../support/rest-routes.ts'

const own = Object.entries(textCatalogue.texts).filter(([key]) => key.startsWith('rest_param_'))
/** The texts of a language that is English in brackets. */
const bracketed: Texts = Object.fromEntries(own.map(([key, text]) => [key, `[${text}]`]))
const texts = (request: { headers: Record<string, string> }) => (request.headers['accept-language'] ? bracketed : {})
const host = forThisFile(() => startRestHost({ sessmgr: { texts, settings: { maximum: 99 } } }))
let headers: Record<string, string>
let foreign: Record<string, string>
let document: RestAnswer['json']
beforeAll(async () => {
  await host.arrange()
  headers = (await host.signIn('admin')).headers
  foreign = { ...headers, 'accept-language': 'xx' }
  document = (await host.call('GET', '/sessmgr/v1/openapi.json', { headers })).json
})

const BAD = [
  '',
  'x',
  '-1',
  '0',
  '9'.repeat(30),
  '\u0007',
  'x'.repeat(11_000),
  ...[-1, 0, 1.5, 1e300, null, true, [], ['x'], {}],
]

/** What a call with one bad parameter says is wrong, in English and in the other language. */
async function problemsOf(method: string, path: string, name: string, value: unknown) {
  const isQuery = method === 'GET'
  const bare = path.split('?')[0] ?? ''
  const who = /sessions|explain/.test(path) && !path.includes('/me/') && name !== 'user' ? { user: 'alice' } : {}
  const query = new URLSearchParams({ ...who, [name]: String(value) })
  const twice = Array.isArray(value) ? `&${name}=x` : ''
  const target = isQuery ? `${bare}?${query}${twice}` : bare
  const json = isQuery ? undefined : { ...who, [name]: value }
  const read = async (sent: Record<string, string>) => {
    const answer = await host.call(method, target, { headers: sent, json })
    return answer.status === 400 ? (answer.json.data.params ?? {}) : {}
  }
  return { english: await read(headers), other: await read(foreign) }
}

describe('rule 40: what is wrong with a parameter', () => {
  const said = new Set<string>()
  const callsOf = () =>
    [...ADMIN_ROUTES, ...PAGE_ROUTES, ...OWN_SESSION_ROUTES].flatMap(({ method, path }) => {
      const { parameters, requestBody } = document.paths[pathOf({ path })][method.toLowerCase()]
      const inQuery = parameters.filter((one: { in: string }) => one.in === 'query')
      const inBody = Object.keys(requestBody?.content['application/json'].schema.properties ?? {})
      return [...inQuery.map(({ name }: { name: string }) => name), ...inBody].map((name) => ({ method, path, name }))
    })

  it('is in the language of the reader, whatever the parameter', async () => {
    // Routes share the rules of a parameter of the same name.
    const known = new Set<string>()
    const distinct = callsOf().filter(({ method, path, name }) => {
      const key = `${method === 'GET'} ${name}`
      return !path.includes('/license') && !known.has(key) && known.add(key)
    })
    expect(distinct.length).toBeGreaterThan(10)
    for (const { method, path, name } of distinct) {
      for (const value of BAD) {
        const { english, other } = await problemsOf(method, path, name, value)
        for (const text of Object.values(english)) said.add(text as string)
        const expected = Object.entries(english).map(([key, text]) => [key, `[${text}]`])
        expect(other, `${name} of ${method} ${path}`).toEqual(Object.fromEntries(expected))
      }
    }
  })

  it('is so for names, whole bodies and options, too', async () => {
    const calls: [method: string, path: string, json?: object][] = [
      ['POST', '/sessmgr/v1/settings'],
      ['POST', '/sessmgr/v1/sessions/destroy', { user: 'alice', colour: 'red' }],
      ['POST', '/sessmgr/v1/sessions/destroy', { user: 'alice', login: 'alice' }],
      ['POST', '/sessmgr/v1/sessions/destroy', { user: 'alice', token: 'a'.repeat(64), tokens: ['a'.repeat(64)] }],
      ['POST', '/wp/v2/settings', { sessmgr_settings: 5 }],
      ['POST', '/sessmgr/v1/addons/1001/license', { key: 5 }],
      ['POST', '/sessmgr/v1/addons/1001/license', { key: 'x'.repeat(10_001) }],
      ['GET', '/sessmgr/v1/settings/colour'],
      ['GET', '/sessmgr/v1/people?cursor=zz'],
      ['GET', '/sessmgr/v1/audit?cursor=zz'],
    ]
    for (const [method, path, json] of calls) {
      const [english = {}, other] = [
        (await host.call(method, path, { headers, json })).json.data.params,
        (await host.call(method, path, { headers: foreign, json })).json.data.params,
      ]
      expect(Object.keys(english), JSON.stringify([path, json])).not.toEqual([])
      for (const text of Object.values(english)) said.add(text as string)
      expect(other, path).toEqual(Object.fromEntries(Object.entries(english).map(([key, text]) => [key, `[${text}]`])))
    }
    await expect(host.limiter.settings.update({ maximun: 2 } as never)).rejects.toMatchObject({
      params: { maximun: 'is unknown (did you mean "maximum"?)' },
    })
    expect(said.size).toBeGreaterThan(20)
  })
})
