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

const schemaObject = z.record(z.string(), z.unknown())
const content = z.partialRecord(
  z.enum(['application/json', 'application/jsonl', 'text/csv']),
  z.strictObject({ schema: schemaObject }),
)
const parameter = z
  .strictObject({ name: z.string().min(1), in: z.enum(['path', 'query']), required: z.boolean(), schema: schemaObject })
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
    version: z.literal(VERSION),
    summary: z.string().optional(),
    description: z.string().optional(),
  }),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), operation),
  ),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), schemaObject),
    securitySchemes: z.strictObject({
      session: z.strictObject({ type: z.literal('apiKey'), in: z.literal('cookie'), name: z.string().min(1) }),
      nonce: z.strictObject({ type: z.literal('apiKey'), in: z.literal('header'), name: z.literal('X-HOST-Nonce') }),
      applicationPassword: z.strictObject({ type: z.literal('http'), scheme: z.literal('basic') }),
    }),
  }),
})
type Document = z.infer<typeof openapi>

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
const read = async (): Promise<Document> => (await host.call('GET', PATH, { headers })).json
const document = forThisFile(read)

function validator(described: { content?: z.infer<typeof content> | undefined } | undefined) {
  const schema = described?.content?.['application/json']?.schema
  if (!schema) throw new Error('there is no schema')
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref))?.[1]
  return z.fromJSONSchema(
    (name === undefined ? schema : document.components.schemas[name]) as z.core.JSONSchema.JSONSchema,
  )
}

describe('the OpenAPI document', () => {
  it('is one of OpenAPI 3.1, with a body for what is posted, and says how to sign in to each route', () => {
    expect(openapi.safeParse(document).error?.issues ?? []).toEqual([])
    const pages = PAGE_ROUTES.map((route) => `${route.method} ${pathOf(route)}`)
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { requestBody, security }] of Object.entries(operations)) {
        expect(requestBody === undefined, `${method} ${path}`).toBe(method === 'get')
        if (path.endsWith('/me/notice')) continue
        const isPage = path.startsWith('/sessmgr/v1/me/') || pages.includes(`${method.toUpperCase()} ${path}`)
        const script = isPage ? [] : [{ applicationPassword: [] }]
        expect(security, `${method} ${path}`).toEqual([{ session: [], nonce: [] }, ...script])
      }
    }
  })

  it('names the parameters of a query and whether they are needed', () => {
    const optional = { in: 'query', required: false, schema: { type: 'string' } }
    const id = { anyOf: [expect.objectContaining({ type: 'integer' }), { type: 'string' }] }
    const digits = { type: 'string', pattern: '^\\d{1,15}$' }
    // One of them has to be given, which a list of parameters cannot say.
    expect(document.paths['/sessmgr/v1/sessions']?.get?.parameters).toEqual([
      { ...optional, name: 'user' },
      { ...optional, name: 'id', schema: id },
      { ...optional, name: 'login' },
      { ...optional, name: 'email' },
      { ...optional, name: 'limit', schema: { ...digits, description: 'from 1 to 1000' } },
      { ...optional, name: 'after', schema: digits },
    ])
  })

  it('names the logic modes that there are now', async () => {
    const remove = host.limiter.hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({
      ...logics,
      by_role: { label: 'By role', desc: '' },
    }))
    const now = await read()
    remove()
    const schema = now.paths[SETTINGS]?.post?.requestBody?.content['application/json']?.schema as {
      properties: { logic: { enum: string[] } }
    }
    expect(schema.properties.logic.enum).toEqual([...Object.keys(await host.limiter.modes.catalogue()), 'by_role'])
  })

  it('describes errors as they are', async () => {
    const schema = validator(document.paths[SETTINGS]?.post?.responses.default)
    const call = (sent: object) => host.call('POST', SETTINGS, { headers: { ...sent }, json: { maximum: 0 } })
    for (const [status, sent] of [
      [401, {}],
      [403, await host.scriptOf('carol')],
      [400, headers],
    ] as const) {
      const answer = await call(sent)
      expect([answer.status, schema.safeParse(answer.json).error?.issues]).toEqual([status, undefined])
    }
    expect(schema.safeParse({ code: 'x', message: 'x' }).success).toBe(false)
  })

  it('takes a body just when the route does', async () => {
    await host.arrange()
    for (const [path, body] of [
      [SETTINGS, {}],
      [SETTINGS, { maximum: 3 }],
      [SETTINGS, { maximum: '007' }],
      [SETTINGS, { maximum: 0 }],
      [SETTINGS, { maximum: '0' }],
      [SETTINGS, { maximum: 1.5 }],
      [SETTINGS, { maximum: null }],
      [SETTINGS, { logic: 'block' }],
      [SETTINGS, { logic: 'nope' }],
      [SETTINGS, { logic: 5 }],
      [DESTROY, { user: 'carol' }],
      [DESTROY, { user: 5 }],
      [DESTROY, { id: 4 }],
      [DESTROY, { id: [4] }],
      [DESTROY, { email: 5 }],
      [DESTROY, { user: 'carol', token: 'short' }],
      ['/sessmgr/v1/sessions/destroy-all', {}],
      ['/sessmgr/v1/addons/refresh', {}],
      ['/sessmgr/v1/addons/1001/license', { key: LICENSE_KEY }],
      ['/sessmgr/v1/addons/1001/license', { key: 7 }],
      ['/sessmgr/v1/addons/1001/license', {}],
    ] as const) {
      const schema = validator(document.paths[pathOf({ path })]?.post?.requestBody)
      const { status } = await host.call('POST', path, { headers, json: body })
      expect(schema.safeParse(body).success, `${path} ${JSON.stringify(body)}`).toBe(status === 200)
    }
  })
})
