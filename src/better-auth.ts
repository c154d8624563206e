export type { BetterAuthLimitOptions, BetterAuthSession } from './extensions/better-auth/better-auth-sessions.ts'
export { type SessionLimitPlugin, sessionLimit } from './extensions/better-auth/session-limit.ts'
