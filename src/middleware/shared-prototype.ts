/**
 * Returns the prototype just above Node's own. In sub-applications, Express replaces a request's first prototype, but
 * not this one. Returns undefined without Express, and for requests that are not HTTP/1, because Node's own prototypes
 * must not be changed.
 */
export function sharedPrototype(request: object): object | undefined {
  // An import would delay every start.
  const ofNode = process.getBuiltinModule('node:http').IncomingMessage.prototype
  let found: object | undefined
  let next: object | null = Object.getPrototypeOf(request)
  while (next !== null && next !== ofNode) {
    found = next
    next = Object.getPrototypeOf(next)
  }
  return next === null ? undefined : found
}
