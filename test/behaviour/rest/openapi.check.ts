import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { VERSION } from '../../../src/constants.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { LICENSE_KEY } from '../../support/rest-licensing.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES, PAGE_ROUTES, pathOf } from '../../support/rest-routes.ts'

const PATH = '/sessmgr/v1/openapi.json'
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

const schemaObject = z.record(z.string(), z.unknown())
const content = z.partialRecord(
  z.enum(['application/json', 'application/jsonl', 'text/csv']),
  z.strictObject({ schema: schemaObject }),
)
const parameter = z
  .strictObject({
    name: z.string().min(1),
    in: z.enum(['path', 'query']),
    required: z.boolean(),
    schema: schemaObject,
  })
  .refine(({ in: place, required }) => place !== 'path' || required)
const operation = z.strictObject({
  summary: z.string().regex(/^[A-Z].*\.$/s),
  parameters: z.array(parameter),
  requestBody: z.strictObject({ content }).optional(),
  responses: z
    .record(
      z.string().regex(/^([1-5]\d\d|default)$/),
      z.strictObject({ description: z.string().min(1), content: content.optional() }),
    )
    .refine(({ 304: unchanged, ...others }) => !unchanged?.content && Object.values(others).every((one) => one.content))
    .refine((responses) => Object.keys(responses).length > 0),
  security: z.array(z.record(z.string(), z.array(z.string()))),
})
/** What OpenAPI 3.1 has, as far as this document uses it; anything else is a mistake. */
const openapi = z.strictObject({
  openapi: z.literal('3.1.0'),
  servers: z.tuple([z.strictObject({ url: z.literal('/api') })]),
  info: z.strictObject({
    title: z.string().min(1),
    version: z.string().min(1),
    summary: z.string().optional(),
    description: z.string().optional(),
  }),
  paths: z.record(z.string().startsWith('/'), z.partialRecord(z.enum(METHODS), operation)),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), schemaObject),
    securitySchemes: z.record(
      z.string(),
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('apiKey'),
          in: z.enum(['cookie', 'header', 'query']),
          name: z.string().min(1),
        }),
        z.strictObject({ type: z.literal('http'), scheme: z.literal('basic') }),
      ]),
    ),
  }),
})
type Document = z.infer<typeof openapi>

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
const document = forThisFile<Document>(async () => (await host.call('GET', PATH, { headers })).json)
beforeEach(async () => {
  await host.registry.options.delete('sessmgr_settings')
  await host.arrange()
})

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  )
const operationOf = (method: string, path: string) => {
  const described = document.paths[pathOf({ path })]?.[method.toLowerCase() as 'get']
  if (!described) throw new Error(`${method} ${path} is not described`)
  return described
}
const validator = (described: { content?: z.infer<typeof content> | undefined } | undefined) => {
  const schema = described?.content?.['application/json']?.schema
  if (!schema) throw new Error('there is no schema')
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref))?.[1]
  return z.fromJSONSchema(
    (name === undefined ? schema : document.components.schemas[name]) as z.core.JSONSchema.JSONSchema,
  )
}

describe('the OpenAPI document', () => {
  it('is one of OpenAPI 3.1', () => {
    const result = openapi.safeParse(document)
    expect(result.error?.issues ?? []).toEqual([])
  })

  it('describes every route, itself included, and no other', () => {
    const described = operations().map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const known = [...ADMIN_ROUTES, ...PAGE_ROUTES, ...OWN_SESSION_ROUTES].map(
      (route) => `${route.method} ${pathOf(route)}`,
    )
    expect(described.toSorted()).toEqual(known.toSorted())
  })

  it('says the version of this package, how to sign in, and that every route needs that', () => {
    expect(document.info.version).toBe(VERSION)
    expect(document.components.securitySchemes).toMatchObject({
      session: { type: 'apiKey', in: 'cookie' },
      nonce: { type: 'apiKey', in: 'header', name: 'X-HOST-Nonce' },
      applicationPassword: { type: 'http', scheme: 'basic' },
    })
    const pages = PAGE_ROUTES.map((route) => `${route.method} ${pathOf(route)}`)
    for (const { method, path, described } of operations()) {
      if (path.endsWith('/me/notice')) continue
      const isPage = path.startsWith('/sessmgr/v1/me/') || pages.includes(`${method.toUpperCase()} ${path}`)
      const script = isPage ? [] : [{ applicationPassword: [] }]
      expect(described.security, path).toEqual([{ session: [], nonce: [] }, ...script])
    }
  })

  it('has a body for what is posted, and none for a GET', () => {
    for (const { method, described } of operations()) {
      expect(described.requestBody === undefined, method).toBe(method === 'get')
    }
  })

  it('names the parameters of a query and whether they are needed', () => {
    const optional = { in: 'query', required: false, schema: { type: 'string' } }
    // One of them has to be given, which a list of parameters cannot say.
    expect(operationOf('GET', '/sessmgr/v1/sessions').parameters).toEqual([
      { ...optional, name: 'user' },
      {
        ...optional,
        name: 'id',
        schema: { anyOf: [expect.objectContaining({ type: 'integer' }), { type: 'string' }] },
      },
      { ...optional, name: 'login' },
      { ...optional, name: 'email' },
      {
        ...optional,
        name: 'limit',
        schema: { type: 'string', pattern: '^\\d{1,15}$', description: 'from 1 to 1000' },
      },
      { ...optional, name: 'after', schema: { type: 'string', pattern: '^\\d{1,15}$' } },
    ])
  })

  it('names the logic modes that there are now', async () => {
    const remove = host.limiter.hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({
      ...logics,
      by_role: { label: 'By role', desc: '' },
    }))
    const { json } = await host.call('GET', PATH, { headers })
    remove()
    expect(openapi.safeParse(json).success).toBe(true)
    const { schema } = json.paths['/sessmgr/v1/settings'].post.requestBody.content['application/json']
    expect(schema.properties.logic.enum).toEqual([...Object.keys(await host.limiter.modes.catalogue()), 'by_role'])
  })

  it('names the nonce header that the application has chosen', async () => {
    const renamed = await startRestHost({ sessmgr: { nonceHeader: 'X-My-Nonce' } })
    const { json } = await renamed.call('GET', PATH, { headers: await renamed.scriptOf('admin') })
    await renamed.close()
    expect(json.components.securitySchemes.nonce.name).toBe('X-My-Nonce')
  })
})

describe('what the routes answer', () => {
  it.each(ADMIN_ROUTES.filter(({ isFile }) => !isFile))(
    '$method $path fits its schema when it is done, and not when a part is missing',
    async (route) => {
      const { method, path, json } = route
      const answer = await host.call(method, path, { headers, json })
      expect(answer.status).toBe(200)
      const schema = validator(operationOf(method, path).responses[200])
      expect(schema.safeParse(answer.json).error?.issues ?? []).toEqual([])
      expect(schema.safeParse([answer.json]).success).toBe(false)
      if (path.startsWith('/wp/') || path === PATH) return
      for (const key of Object.keys(answer.json)) {
        const { [key]: _missing, ...rest } = answer.json
        expect(schema.safeParse(rest).success, key).toBe(false)
      }
    },
  )

  it.each(ADMIN_ROUTES.filter(({ isFile }) => isFile))(
    '$method $path sends a file of a described type',
    async (route) => {
      const { status, headers: sent } = await host.call(route.method, route.path, { headers })
      expect(status).toBe(200)
      const [type] = sent['content-type']?.split(';') ?? []
      expect(Object.keys(operationOf(route.method, route.path).responses[200]?.content ?? {})).toContain(type)
      expect(sent['content-disposition']).toMatch(/^attachment; filename="[\w.]+"$/)
    },
  )

  const TYPICAL = ADMIN_ROUTES.filter(({ path }) => path === '/sessmgr/v1/settings')
  it.each(TYPICAL)('$method $path fits the schema of errors when it is refused', async ({ method, path }) => {
    const schema = validator(operationOf(method, path).responses.default)
    const { password } = await host.limiter.passwords.create(4, 'script')
    const forbidden = { authorization: `Basic ${Buffer.from(`carol:${password}`).toString('base64')}` }
    for (const refused of [{}, forbidden, { ...headers, 'content-type': 'application/json' }]) {
      const answer = await host.call(method, path, { headers: refused, body: method === 'GET' ? undefined : '{' })
      if (answer.status === 200) expect(method).toBe('GET')
      else expect(schema.safeParse(answer.json).error?.issues ?? []).toEqual([])
    }
    expect(schema.safeParse({ code: 'x', message: 'x' }).success).toBe(false)
  })
})

describe('what the routes accept', () => {
  const bodies: [path: string, body: object][] = [
    ['/sessmgr/v1/settings', {}],
    ['/sessmgr/v1/settings', { maximum: 3 }],
    ['/sessmgr/v1/settings', { maximum: '3' }],
    ['/sessmgr/v1/settings', { maximum: '007' }],
    ['/sessmgr/v1/settings', { maximum: 0 }],
    ['/sessmgr/v1/settings', { maximum: '0' }],
    ['/sessmgr/v1/settings', { maximum: 1.5 }],
    ['/sessmgr/v1/settings', { maximum: null }],
    ['/sessmgr/v1/settings', { maximum: [3] }],
    ['/sessmgr/v1/settings', { logic: 'block' }],
    ['/sessmgr/v1/settings', { logic: 'nope' }],
    ['/sessmgr/v1/settings', { logic: 5 }],
    ['/sessmgr/v1/sessions/destroy', { user: 'carol' }],
    ['/sessmgr/v1/sessions/destroy', { user: 5 }],
    ['/sessmgr/v1/sessions/destroy', { user: ['carol'] }],
    ['/sessmgr/v1/sessions/destroy', { id: 4 }],
    ['/sessmgr/v1/sessions/destroy', { id: [4] }],
    ['/sessmgr/v1/sessions/destroy', { login: 'carol' }],
    ['/sessmgr/v1/sessions/destroy', { email: 5 }],
    ['/sessmgr/v1/sessions/destroy', { user: 'carol', token: 'short' }],
    ['/sessmgr/v1/sessions/destroy', { user: 'carol', token: 7 }],
    ['/sessmgr/v1/sessions/destroy-all', {}],
    ['/sessmgr/v1/addons/refresh', {}],
    ['/sessmgr/v1/addons/1001/license', { key: LICENSE_KEY }],
    ['/sessmgr/v1/addons/1001/license', { key: 7 }],
    ['/sessmgr/v1/addons/1001/license', { key: [LICENSE_KEY] }],
    ['/sessmgr/v1/addons/1001/license', {}],
  ]
  it.each(bodies)('%s takes %j just when its schema does', async (path, body) => {
    const schema = validator(operationOf('POST', path).requestBody)
    const { status } = await host.call('POST', path, { headers, json: body })
    expect(schema.safeParse(body).success).toBe(status === 200)
  })
})
