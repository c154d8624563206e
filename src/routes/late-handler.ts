import type { Handler, HostRequest } from '../guard/host-types.ts'

/**
 * Returns a middleware that waits until another middleware is loaded.
 *
 * @param concerns Selects the requests that wait. @default all
 */
export function lateHandler(loading: Promise<Handler>, concerns?: (request: HostRequest) => boolean): Handler {
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
