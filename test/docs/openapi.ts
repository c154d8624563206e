import { startCommentsHost } from '../support/comments-host.ts'

/** One method of one path. */
export interface Operation {
  readonly summary: string
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
