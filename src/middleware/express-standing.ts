import type { HostRequest, RequestState } from '../guard/host-types.ts'
import { STANDING, Standing } from '../guard/request/standing.ts'
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

/** Whether every property that a request of Express gets is a new shape to V8: until Node 24. */
const SHAPES_ARE_SPENT = Number.parseInt(process.versions.node, 10) < 24

/** Finds the standing of a request to Express, giving it one if need be. */
export function expressStanding(request: HostRequest): Standing {
  const known = Standing.of(request)
  if (known) return known
  // Inherited as a rule: the first request has prepared the prototype of all.
  if (!('sessmgr' in request)) Object.defineProperty(sharedPrototype(request) ?? request, 'sessmgr', SESSMGR)
  const standing = new Standing().standFor(request)
  if (!SHAPES_ARE_SPENT || Object.hasOwn(request, 'sessmgr')) return standing
  // What has lost a property is a table to V8, with one shape for all tables: docs/decisions/0015.
  delete (request as { [STANDING]?: Standing })[STANDING]
  return standing.standFor(request)
}
