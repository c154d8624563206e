export { type SessionLimitPlugin, sessionLimit } from './adapters/better-auth-limit.ts'
export type { BetterAuthLimitOptions, BetterAuthSession } from './adapters/better-auth-sessions.ts'
