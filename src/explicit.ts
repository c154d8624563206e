export {
  type DeviceCall,
  type ExplicitCalls,
  explicitCalls,
  type LoginCall,
  type PendingCalls,
  type SessionCall,
  type TakenLogin,
} from './adapters/explicit-calls.ts'
export type { LoadedSession, ReadingClient, SessionOfUser } from './adapters/read-sessions.ts'
export type { RequestState } from './door/host-types.ts'
export type { JoinedSessions } from './door/stores/session-stores.ts'
export type { Admission } from './limiter/admit-login.ts'
export type { SessionChoice } from './limiter/decision/evaluate-login.ts'
