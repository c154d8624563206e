/**
 * Finds the prototype just below Node's own. Express exchanges a request's first prototype on its way through
 * sub-applications; this one stays. Without Express there is none, and Node's own is not ours to change: nor is what
 * stands below it where the request is none of HTTP/1, which in the end is the prototype of all objects.
 */
export function sharedPrototype(request: object): object | undefined {
  // An import would take its time at every start.
  const ofNode = process.getBuiltinModule('node:http').IncomingMessage.prototype
  let found: object | undefined
  let next: object | null = Object.getPrototypeOf(request)
  while (next !== null && next !== ofNode) {
    found = next
    next = Object.getPrototypeOf(next)
  }
  return next === null ? undefined : found
}
