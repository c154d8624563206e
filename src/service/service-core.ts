import { SessmgrError } from '../ground/errors.ts'
import type { LimitLogin } from '../guard/host-types.ts'
import type { SessionGuards } from '../guard/session-guards.ts'
import type { SessionStores } from '../guard/stores/session-stores.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'

import type { ResolvedOptions } from './resolve-options.ts'

/** What the adapters of other hosts build on. */
export interface ServiceCore {
  readonly limiter: SessionLimiter
  readonly stores: SessionStores
  readonly guards: SessionGuards
  readonly limitLogin: LimitLogin
  readonly options: ResolvedOptions
}

// One for all doors of the package: each may be loaded with a copy of this module.
const CORE = Symbol.for('sessmgr.core')

/** Lets a service carry its core, out of sight. */
export function carryCore(service: object, core: ServiceCore): void {
  Object.defineProperty(service, CORE, { value: core })
}

/** Finds the core of a service. @throws SessmgrError `invalid_option` when it is none. */
export function coreOf(service: unknown): ServiceCore {
  const core = (service as { [CORE]?: ServiceCore } | null | undefined)?.[CORE]
  if (core) return core
  throw new SessmgrError('invalid_option', '"limiter" must be what sessmgr() has returned.')
}
