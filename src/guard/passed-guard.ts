import { onePerProcess } from '../ground/one-per-process.ts'
import type { HostRequest } from './host-types.ts'
import type { SessionStores } from './stores/session-stores.ts'

/** Which limiter's guard a request has passed. One for all limiters: two in one application must learn of each other. */
export const passedGuard = onePerProcess('passedGuard', () => new WeakMap<HostRequest, SessionStores>())
