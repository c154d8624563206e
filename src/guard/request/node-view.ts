import type { IncomingMessage } from 'node:http'
import type { HostRequest } from '../host-types.ts'

/**
 * Combines Node's request with the framework's own properties, which Express has on the request itself.
 *
 * Methods run on Node's own object, because a stream does not work through another object.
 */
export function nodeView(raw: IncomingMessage, own: object): HostRequest {
  return new Proxy(raw, {
    get(target, key) {
      if (key in own) return Reflect.get(own, key)
      const value = Reflect.get(target, key)
      // Not `value.bind`: an Express application, for example, has a method `bind` for routes with the verb BIND.
      return typeof value === 'function' ? Function.prototype.bind.call(value, target) : value
    },
    set: (target, key, value) => Reflect.set(key in own ? own : target, key, value),
    has: (target, key) => key in own || key in target,
  }) as HostRequest
}
