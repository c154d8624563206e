import type { Handler, HostRequest } from '../guard/host-types.ts'

/**
 * Makes the middleware that stands in for another while that is loaded.
 *
 * @param concerns Tells which requests are for it, and so have to wait. @default all
 */
export function lateHandler(loading: Promise<Handler>, concerns?: (request: HostRequest) => boolean): Handler {
  let handler: Handler | undefined
  const loaded = loading.then((one) => {
    handler = one
  })
  // Each request that waits is told of a failure.
  loaded.catch(() => {})

  return (request, response, next) => {
    if (handler) return handler(request, response, next)
    if (concerns && !concerns(request)) return next()
    loaded.then(() => handler?.(request, response, next)).catch(next)
  }
}
