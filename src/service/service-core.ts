import type { SiteSecrets } from '../auth/site-secrets.ts'
import type { Asker } from '../door/login.ts'
import type { Notices } from '../door/notice/notices.ts'
import type { DeviceCookies } from '../door/request/device-cookies.ts'
import type { LimitLogin, Visit } from '../door/request/visit.ts'
import type { SessionGuards } from '../door/session-guard.ts'
import type { SessionStores } from '../door/stores/session-stores.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import type { GuardOf } from '../middleware/store.ts'
import type { ResolvedOptions } from './resolve-options.ts'

/** The internals that adapters use. */
export interface ServiceCore {
  readonly limiter: SessionLimiter
  readonly stores: SessionStores
  readonly guards: SessionGuards
  readonly limitLogin: LimitLogin
  /** Finds the guard of a request's session. */
  readonly guardOf: GuardOf
  /** Loads the code that recognizes browsers. Undefined without the `device` option. */
  readonly devices: (() => Promise<DeviceCookies>) | undefined
  /** Sends the device cookie that an earlier response could not carry. Undefined without the `device` option. */
  readonly resumeDevice: ((visit: Visit) => void) | undefined
  /** Returns the choice page, or undefined while none is mounted. */
  readonly asker: () => Asker | undefined
  readonly notices: Notices
  readonly siteSecrets: SiteSecrets
  readonly options: ResolvedOptions
}

// A global symbol, because each entry point may load its own copy of this module.
const CORE = Symbol.for('sessmgr.core')

/** Attaches the core to a service as a hidden property. */
export function carryCore(service: object, core: ServiceCore): void {
  Object.defineProperty(service, CORE, { value: core })
}

/**
 * Returns the core of a service.
 *
 * @param call The correct call, for the message.
 * @throws SessmgrError `invalid_option` for anything else.
 */
export function coreOf(service: unknown, call?: string): ServiceCore {
  const core = (service as { [CORE]?: ServiceCore } | null | undefined)?.[CORE]
  if (core) return core
  throw new SessmgrError(
    'invalid_option',
    `"limiter" must be the limiter that sessmgr() returned${call ? `: ${call}` : ''}.`,
  )
}
