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

/**
 * Returns an object whose code is loaded by the first call of a method.
 *
 * @param names All its methods, which must be asynchronous.
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
