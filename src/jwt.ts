export {
  type Refreshed,
  type TokenAdmission,
  type TokenClaims,
  type TokenSessionOptions,
  type TokenSessions,
  tokenSessions,
  type VerifiedClaims,
} from './adapters/token-sessions.ts'
