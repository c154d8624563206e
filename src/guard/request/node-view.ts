import type { IncomingMessage } from 'node:http'
import type { HostRequest } from '../host-types.ts'

/**
 * Shows Node's request together with what a host keeps elsewhere, as Express would have it on the request itself.
 *
 * The methods run on Node's own object: a stream does not work through another one.
 */
export function nodeView(raw: IncomingMessage, own: object): HostRequest {
  return new Proxy(raw, {
    get(target, key) {
      if (key in own) return Reflect.get(own, key)
      const value = Reflect.get(target, key)
      // Not by its own `bind`: an Express application, for one, takes that for a route of the verb BIND.
      return typeof value === 'function' ? Function.prototype.bind.call(value, target) : value
    },
    set: (target, key, value) => Reflect.set(key in own ? own : target, key, value),
    has: (target, key) => key in own || key in target,
  }) as HostRequest
}
