import type { ZodMiniType } from 'zod/mini'
import type { HostRequest } from '../guard/host-types.ts'
import type { Caller } from './caller.ts'
import type { RestAnswer } from './rest-answer.ts'

const NAMESPACES = ['/sessmgr/v1', '/lazycomments/v1', '/wp/v2']

/** One call of a route, by somebody who may make it. */
export interface RestCall<Params> {
  /** Undefined for an anonymous caller of a route that is open to everybody. */
  readonly caller: Caller | undefined
  readonly request: HostRequest
  /** Values from the path, from the query of a GET, and from the body of anything else, checked. */
  readonly params: Params
}

/** Schemas of what goes in and what comes out. */
export interface RouteSchemas {
  readonly params: ZodMiniType
  readonly response: ZodMiniType
}

/** One resource and what may be done with it. */
export interface RestRoute<Params = unknown> {
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[]
  /** Path with `{name}` for what varies. */
  readonly path: string
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  /** The capability it takes, a check of its own, or nothing: a route that is open to everybody. */
  readonly access: string | ((caller: Caller | undefined) => Promise<unknown>) | undefined
  /** What an answer may be. @default JSON alone */
  readonly mediaTypes?: readonly string[]
  /** Whether a call without a body is a mistake. @default false */
  readonly needsBody?: boolean
  /** Made for each call, where the application may change what is acceptable. */
  schemas(): RouteSchemas | Promise<RouteSchemas>
  /** Refuses parameters with a code of its own, before the schema looks at them. */
  precheck?(params: Readonly<Record<string, unknown>>): void
  handle(call: RestCall<Params>): Promise<object | RestAnswer>
}

/** Gives a route its parameter type; the table of routes forgets it. */
export function restRoute<Params>(route: RestRoute<Params>): RestRoute {
  return route as RestRoute
}

/** Reads the path of a request below the router; undefined for one that belongs to the application. */
export function restPath(request: HostRequest): string | undefined {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  return NAMESPACES.some((namespace) => path === namespace || path.startsWith(`${namespace}/`)) ? path : undefined
}
