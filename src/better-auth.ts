export { type BetterAuthLimitOptions, type SessionLimitPlugin, sessionLimit } from './adapters/better-auth-limit.ts'
export type { BetterAuthSession } from './adapters/better-auth-sessions.ts'
