import type { HostRequest, RequestState } from '../guard/host-types.ts'
import { Standing } from '../guard/request/standing.ts'
import { sharedPrototype } from './shared-prototype.ts'

/** What `req.sessmgr` is: the standing keeps it, for a further property is what costs a request of Express most. */
const SESSMGR: PropertyDescriptor & ThisType<HostRequest> = {
  configurable: true,
  enumerable: true,
  get() {
    return Standing.of(this)?.shown
  },
  set(state: RequestState | undefined) {
    Standing.at(this).shown = state
  },
}

/** Finds the standing of a request to Express, giving it one if need be. */
export function expressStanding(request: HostRequest): Standing {
  const known = Standing.of(request)
  if (known) return known
  // Inherited as a rule: the first request has prepared the prototype of all.
  if (!('sessmgr' in request)) Object.defineProperty(sharedPrototype(request) ?? request, 'sessmgr', SESSMGR)
  return new Standing().standFor(request)
}
