import { withHttpStatus } from '../ground/http-error.ts'

/**
 * Gives what a service rejects with the `status` and `headers` of its answer, so that a route can hand it on as it is.
 *
 * Holds for a function, the methods of an object, and the objects with methods that it has or that its methods return.
 */
export function withHttpErrors<Service>(service: Service): Service {
  if (typeof service === 'function') return wrapped(service as unknown as Method) as Service
  if (Array.isArray(service)) return service.map(withHttpErrors) as Service
  if (!isPlain(service)) return service
  const found = known.get(service)
  if (found) return found as Service
  const members = Object.entries(service).map(([name, member]) => [name, withHttpErrors(member)])
  const made = Object.fromEntries(members) as Service & object
  known.set(service, made)
  return made
}

/** What was made of an object: who asks twice for the same one gets the same. */
const known = new WeakMap<object, object>()

type Method = (...parameters: unknown[]) => unknown

function wrapped(method: Method): Method {
  return (...parameters) => {
    const result = method(...parameters)
    return result instanceof Promise ? result.catch(rethrow) : withHttpErrors(result)
  }
}

function rethrow(error: unknown): never {
  throw withHttpStatus(error)
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
