import * as z from 'zod/mini'
import { VERSION } from '../../ground/constants.ts'
import { type RestRoute, restRoute } from '../router.ts'

const ERROR = {
  type: 'object',
  required: ['code', 'message', 'data'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    data: { type: 'object', required: ['status'], properties: { status: { type: 'integer' } } },
  },
}

const METHODS =
  'A POST with the header `X-HTTP-Method-Override: PUT`, `PATCH` or `DELETE`, or with the same value in the query as ' +
  '`_method`, acts as that method.'

const jsonSchema = (schema: z.ZodMiniType) => {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest as { properties?: Record<string, object>; required?: readonly string[] }
}

/** Returns the schema of the body, without the parameters in the path. */
const without = (schema: ReturnType<typeof jsonSchema>, names: readonly string[]) => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name))),
  required: schema.required?.filter((name) => !names.includes(name)) ?? [],
})

const content = (schema: object, types: readonly string[] = ['application/json']) => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
})

function securityOf({ access, isOwn, needsSession }: RestRoute): readonly object[] {
  if (access === undefined) return []
  return [{ session: [], nonce: [] }, ...(isOwn || needsSession ? [] : [{ applicationPassword: [] }])]
}

async function operation(route: RestRoute, method: string): Promise<object> {
  const { params, response } = await route.schemas()
  const schema = jsonSchema(params)
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  const inQuery = method === 'GET' ? Object.keys(schema.properties ?? {}).filter((name) => !inPath.includes(name)) : []
  const parameter = (place: string) => (name: string) => ({
    name,
    in: place,
    required: place === 'path' || schema.required?.includes(name) === true,
    schema: schema.properties?.[name] ?? {},
  })
  return {
    summary: route.summary,
    parameters: [...inPath.map(parameter('path')), ...inQuery.map(parameter('query'))],
    ...(method === 'GET' ? {} : { requestBody: content(without(schema, inPath)) }),
    responses: {
      200: { description: 'Done.', ...content(jsonSchema(response), route.mediaTypes) },
      ...(route.isTagged && { 304: { description: 'Unchanged: `If-None-Match` has the current `ETag`.' } }),
      default: { description: 'Refused.', ...content({ $ref: '#/components/schemas/Error' }) },
    },
    security: securityOf(route),
  }
}

/** Returns the route that describes all routes, including itself, as OpenAPI 3.1. */
export function openapiRoute(others: readonly RestRoute[], nonceHeader: string): RestRoute {
  const itself = restRoute({
    methods: ['GET'],
    path: '/sessmgr/v1/openapi.json',
    summary: 'Describes this API as an OpenAPI 3.1 document.',
    access: 'manage_options',
    schemas: () => ({ params: z.object({}), response: z.record(z.string(), z.unknown()) }),
    async handle({ request }) {
      const paths: Record<string, Record<string, object>> = {}
      for (const route of [...others, itself].filter((one) => one.lacks?.() === undefined)) {
        for (const method of route.methods) {
          const path = paths[route.path] ?? {}
          paths[route.path] = { ...path, [method.toLowerCase()]: await operation(route, method) }
        }
      }
      return {
        openapi: '3.1.0',
        servers: [{ url: String(request.baseUrl || '/') }],
        info: { title: 'sessmgr', version: VERSION, summary: 'Limits and ends login sessions.', description: METHODS },
        paths,
        components: {
          schemas: { Error: ERROR },
          securitySchemes: {
            session: { type: 'apiKey', in: 'cookie', name: 'connect.sid' },
            nonce: { type: 'apiKey', in: 'header', name: nonceHeader },
            applicationPassword: { type: 'http', scheme: 'basic' },
          },
        },
      }
    },
  })
  return itself
}
