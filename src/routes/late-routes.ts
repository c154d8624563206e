import type { Handler, HostResponse, Next, RoutedRequest } from '../door/host-types.ts'
import { errorBody } from '../ground/errors.ts'
import { type Logger, warn } from '../ground/logger.ts'
import type { TextsFor } from '../texts/texts-for.ts'

/** The action that REST nonces are valid for. */
export const REST_ACTION = 'rest'

/** Path of the routes for callers' own sessions, which work without `host`. */
export const OWN_ROUTES = '/sessmgr/v1/me/'

const NAMESPACES = ['/sessmgr/v1', '/lazycomments/v1', '/wp/v2']

/**
 * Returns a request's path relative to the router, without a trailing slash, or undefined if the application handles
 * the request.
 */
export function restPath(request: RoutedRequest): string | undefined {
  const path = (request.url ?? '/').split('?', 1)[0]?.replace(/(?<=.)\/$/, '') ?? '/'
  return NAMESPACES.some((namespace) => path === namespace || path.startsWith(`${namespace}/`)) ? path : undefined
}

/** Returns the middleware that refuses every call to a route that needs `host`, if there is none. */
export function refuseWithoutHost(logger: Logger, textsFor: TextsFor) {
  return function sessmgrRouter(request: RoutedRequest, response: HostResponse, next: Next): void {
    if (restPath(request) === undefined) return next()
    warn(
      logger,
      'rest-routes-refuse-users',
      'The admin routes refuse every call because sessmgr has no host. ' +
        'Set it: sessmgr({ host: { users: { findById, findByEmail, findByLogin, summary }, can } }).',
    )
    const message = textsFor(request).say('rest_not_set_up')
    response.statusCode = 403
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.setHeader('Cache-Control', 'no-store')
    response.end(JSON.stringify(errorBody('rest_forbidden', message, 403)))
  }
}

/**
 * Returns a middleware that waits until another middleware is loaded.
 *
 * @param concerns Selects the requests that wait. @default all
 */
export function lateHandler(loading: Promise<Handler>, concerns?: (request: RoutedRequest) => boolean): Handler {
  let handler: Handler | undefined
  const loaded = loading.then((one) => {
    handler = one
  })
  // Each waiting request handles the failure itself.
  loaded.catch(() => {})

  return (request, response, next) => {
    if (handler) return handler(request, response, next)
    if (concerns && !concerns(request)) return next()
    loaded.then(() => handler?.(request, response, next)).catch(next)
  }
}

/**
 * Returns an object whose code is loaded on the first call to a method.
 *
 * @param names The names of all its methods, which must be asynchronous.
 */
export function lateMethods<T extends object>(load: () => Promise<T>, names: readonly (keyof T & string)[]): T {
  let loading: Promise<T> | undefined
  const method =
    (name: keyof T) =>
    async (...values: unknown[]) => {
      loading ??= load()
      const loaded = await loading
      return (loaded[name] as (...values: unknown[]) => unknown)(...values)
    }
  return Object.fromEntries(names.map((name) => [name, method(name)])) as T
}
