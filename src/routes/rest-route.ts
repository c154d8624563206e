import type { ZodMiniType } from 'zod/mini'
import { errorBody } from '../ground/answer-body.ts'
import { type Logger, warn } from '../ground/logger.ts'
import type { HostRequest, HostResponse, Next } from '../guard/host-types.ts'
import type { TextsFor } from '../texts/texts-for.ts'
import type { Caller } from './caller.ts'
import type { RestAnswer } from './rest-answer.ts'
import type { RestDownload } from './rest-download.ts'

/** Path of the routes for callers' own sessions, which work without `host`. */
export const OWN_ROUTES = '/sessmgr/v1/me/'

const NAMESPACES = ['/sessmgr/v1', '/lazycomments/v1', '/wp/v2']

/** One authorized call of a route. */
export interface RestCall<Params> {
  /** Undefined if the route is public and the caller is anonymous. */
  readonly caller: Caller | undefined
  readonly request: HostRequest
  readonly response: HostResponse
  /** Validated values from the path, and from the query of a GET or the body of any other method. */
  readonly params: Params
}

/** Schemas of the parameters and the result. */
interface RouteSchemas {
  readonly params: ZodMiniType
  readonly response: ZodMiniType
}

/** A resource and its methods. */
export interface RestRoute<Params = unknown> {
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[]
  /** Path with `{name}` for parameters. */
  readonly path: string
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  /** Required capability, or a custom check. Undefined for a public route. */
  readonly access: string | ((caller: Caller | undefined) => Promise<unknown>) | undefined
  /**
   * Whether the route is about the caller's own session. If so, no user is looked up, and an application password is
   * not accepted. @default false
   */
  readonly isOwn?: boolean
  /** Whether the route accepts only a session with a nonce, not an application password. @default false */
  readonly needsSession?: boolean
  /** Whether responses have an entity tag, so that a client that has the current one gets 304. @default false */
  readonly isTagged?: boolean
  /** Media types of the response. @default only JSON */
  readonly mediaTypes?: readonly string[]
  /** Checks whether the route exists at the moment. @default always */
  exists?(): boolean
  /** Whether a call without a body is an error. @default false */
  readonly needsBody?: boolean
  /** Called for each request, because the application may change what is valid. */
  schemas(): RouteSchemas | Promise<RouteSchemas>
  /** Rejects parameters with a specific code before the schema checks them. */
  precheck?(params: Readonly<Record<string, unknown>>): void
  handle(call: RestCall<Params>): Promise<object | RestAnswer | RestDownload>
}

/** Checks the type of a route's parameters, which the list of routes does not keep. */
export function restRoute<Params>(route: RestRoute<Params>): RestRoute {
  return route as RestRoute
}

/**
 * Returns a request's path relative to the router, without a trailing slash, or undefined if the application handles
 * the request.
 */
export function restPath(request: HostRequest): string | undefined {
  const path = (request.url ?? '/').split('?', 1)[0]?.replace(/(?<=.)\/$/, '') ?? '/'
  return NAMESPACES.some((namespace) => path === namespace || path.startsWith(`${namespace}/`)) ? path : undefined
}

/** Returns the middleware that replaces the router if there is no `host`. It refuses every call. */
export function refuseWithoutHost(logger: Logger, textsFor: TextsFor) {
  let said = false
  return function sessmgrRouter(request: HostRequest, response: HostResponse, next: Next): void {
    if (restPath(request) === undefined) return next()
    if (!said) {
      warn(
        logger,
        'rest-routes-without-host',
        'The admin routes refuse every call because sessmgr has no host. ' +
          'Set it: sessmgr({ host: { users: { findById, findByEmail, findByLogin, summary }, can } }).',
      )
      said = true
    }
    const message = textsFor(request).say('rest_not_set_up')
    response.statusCode = 403
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.setHeader('Cache-Control', 'no-store')
    response.end(JSON.stringify(errorBody('rest_forbidden', message, 403)))
  }
}
