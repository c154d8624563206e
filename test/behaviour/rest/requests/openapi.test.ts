import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { VERSION } from '../../../../src/constants.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { LICENSE_KEY } from '../../../support/rest-licensing.ts'
import { PAGE_ROUTES, pathOf } from '../../../support/rest-routes.ts'

const PATH = '/sessmgr/v1/openapi.json'
const SETTINGS = '/sessmgr/v1/settings'
const DESTROY = '/sessmgr/v1/sessions/destroy'

interface Described {
  readonly summary: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: Content
  readonly responses: Record<string, Content & { description: string }>
  readonly security: readonly object[]
}
interface Content {
  readonly content?: Record<string, { schema: z.core.JSONSchema.BaseSchema }>
}
interface Document {
  readonly paths: Record<string, Record<string, Described>>
  readonly components: { schemas: Record<string, z.core.JSONSchema.BaseSchema> }
}

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
const read = async (): Promise<Document> => (await host.call('GET', PATH, { headers })).json
const document = forThisFile(read)

function validator(described: Content | undefined) {
  const schema = described?.content?.['application/json']?.schema
  if (!schema) throw new Error('there is no schema')
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref))?.[1]
  return z.fromJSONSchema((name === undefined ? schema : document.components.schemas[name]) as typeof schema)
}

describe('the OpenAPI document', () => {
  it('is one of OpenAPI 3.1, with a body for what is posted, and says how to sign in to each route', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'sessmgr', version: VERSION },
      servers: [{ url: '/api' }],
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: 'connect.sid' },
          nonce: { type: 'apiKey', in: 'header', name: 'X-HOST-Nonce' },
          applicationPassword: { type: 'http', scheme: 'basic' },
        },
      },
    })
    const pages = PAGE_ROUTES.map((route) => `${route.method} ${pathOf(route)}`)
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { summary, parameters, requestBody, responses, security }] of Object.entries(operations)) {
        expect(summary).toMatch(/^[A-Z].*\.$/s)
        const inPath = parameters.flatMap((one) => (one.in === 'path' && one.required ? [`{${one.name}}`] : []))
        expect(inPath, path).toEqual(path.match(/\{\w+\}/g) ?? [])
        const { 304: unchanged, ...others } = responses
        expect([unchanged?.content, Object.keys(others)], path).toEqual([undefined, ['200', 'default']])
        expect(requestBody === undefined, `${method} ${path}`).toBe(method === 'get')
        if (path.endsWith('/me/notice')) continue
        const isPage = path.startsWith('/sessmgr/v1/me/') || pages.includes(`${method.toUpperCase()} ${path}`)
        const script = isPage ? [] : [{ applicationPassword: [] }]
        expect(security, `${method} ${path}`).toEqual([{ session: [], nonce: [] }, ...script])
      }
    }
  })

  it('names the parameters of a query and whether they are needed', () => {
    const parametersOf = (path: string) => document.paths[path]?.get?.parameters.filter((one) => one.in === 'query')
    // One of those that name a user has to be given, which a list of parameters cannot say.
    expect(parametersOf('/sessmgr/v1/sessions')?.map(({ name, required }) => [name, required])).toEqual(
      ['user', 'id', 'login', 'email', 'limit', 'after', 'label'].map((name) => [name, false]),
    )
    const needed = parametersOf('/sessmgr/v1/audit/counts')?.filter(({ required }) => required)
    expect(needed?.map(({ name }) => name)).toEqual(['from', 'step'])
  })

  it('names the logic modes that there are now', async () => {
    const remove = host.limiter.hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({
      ...logics,
      by_role: { label: 'By role', desc: '' },
    }))
    const now = await read()
    remove()
    const schema = now.paths[SETTINGS]?.post?.requestBody?.content?.['application/json']?.schema
    const logics = [...Object.keys(await host.limiter.modes.catalogue()), 'by_role']
    expect(schema?.properties?.logic).toMatchObject({ enum: logics })
  })

  it('takes a body just when the route does, and describes what is refused', async () => {
    await host.arrange()
    for (const [path, body] of [
      [SETTINGS, {}],
      [SETTINGS, { maximum: 3 }],
      [SETTINGS, { maximum: 0 }],
      [SETTINGS, { logic: 'nope' }],
      [DESTROY, { user: 'carol' }],
      [DESTROY, { id: [4] }],
      [DESTROY, { user: 'carol', token: 'short' }],
      ['/sessmgr/v1/sessions/destroy-all', {}],
      ['/sessmgr/v1/addons/refresh', {}],
      ['/sessmgr/v1/addons/1001/license', { key: LICENSE_KEY }],
      ['/sessmgr/v1/addons/1001/license', { key: 7 }],
    ] as const) {
      const schema = validator(document.paths[pathOf({ path })]?.post?.requestBody)
      const { status, json } = await host.call('POST', path, { headers, json: body })
      expect(schema.safeParse(body).success, `${path} ${JSON.stringify(body)}`).toBe(status === 200)
      const error = validator(document.paths[SETTINGS]?.post?.responses.default)
      expect(error.safeParse(json).success, path).toBe(status !== 200)
    }
  })
})
