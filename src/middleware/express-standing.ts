import type { HostRequest, RequestState } from '../guard/host-types.ts'
import { STANDING, Standing, type StandingHolder } from '../guard/request/standing.ts'
import { sharedPrototype } from './shared-prototype.ts'

/**
 * Defines `req.sessmgr`. The value is in the standing, because another property would slow down most Express requests.
 */
const SESSMGR: PropertyDescriptor & ThisType<StandingHolder> = {
  configurable: true,
  enumerable: true,
  get() {
    return this[STANDING]?.shown
  },
  set(state: RequestState | undefined) {
    Standing.at(this).shown = state
  },
}

/**
 * Whether V8 creates a new shape for each property that is added to an Express request, which it does before Node 24.
 */
const SHAPES_ARE_SPENT = Number.parseInt(process.versions.node, 10) < 24

/** Returns the standing of an Express request, creating it if needed. */
export function expressStanding(request: HostRequest): Standing {
  const holder = request as StandingHolder
  if (holder[STANDING]) return holder[STANDING]
  // An own property from other middleware would hide the accessor.
  if (Object.hasOwn(request, 'sessmgr')) Reflect.deleteProperty(request, 'sessmgr')
  // Usually inherited, because the first request has prepared the shared prototype.
  if (!('sessmgr' in request)) Object.defineProperty(sharedPrototype(request) ?? request, 'sessmgr', SESSMGR)
  const standing = new Standing()
  holder[STANDING] = standing
  if (!SHAPES_ARE_SPENT || Object.hasOwn(request, 'sessmgr')) return standing
  // Deleting a property turns the object into a dictionary, whose shape all requests share: docs/decisions/0015.
  delete holder[STANDING]
  holder[STANDING] = standing
  return standing
}
