export {
  type ExplicitCalls,
  explicitCalls,
  type LoginCall,
  type SessionCall,
} from './adapters/explicit/explicit-calls.ts'
export type { Admission } from './limiter/admit-login.ts'
export type { JoinedSessions } from './middleware/guarded-stores.ts'
export type { RequestState } from './middleware/host-types.ts'
