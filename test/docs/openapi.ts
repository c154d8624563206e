import { startCommentsHost } from '../support/comments-host.ts'

/** A JSON schema, as far as the routes use it. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  /** There for an object whose keys are not known beforehand. */
  readonly additionalProperties?: unknown
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly description?: string
  readonly $ref?: string
}

type Content = { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }

/** Tells the schema of what is sent, whatever kind of file that is. */
export const schemaOf = ({ content }: Content): Schema => Object.values(content)[0]?.schema ?? {}

/** One method of one path. */
export interface Operation {
  readonly summary: string
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[]
  readonly requestBody?: Content
  readonly responses: { readonly 200: Content; readonly 304?: object }
  /** Empty for a route that is open to everybody. */
  readonly security: readonly object[]
}

/** A route of the running application. */
export interface Route {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** Asks a running application with every part in use for its OpenAPI document, and lists the routes in it. */
export async function readRoutes(): Promise<readonly Route[]> {
  const host = await startCommentsHost()
  try {
    const { cookie, nonce } = await host.signIn('admin')
    const headers = { cookie, 'x-host-nonce': nonce }
    // Without it, there are no routes for users' own sessions.
    host.limiter.account()
    const { status, json } = await host.client.send('GET', '/api/sessmgr/v1/openapi.json', { headers })
    if (status !== 200) throw new Error(`The OpenAPI document was answered ${status}.`)
    const paths = Object.entries(json.paths as Record<string, Record<string, Operation>>)
    return paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
  } finally {
    await host.close()
  }
}
