export type {
  Refreshed,
  TokenAdmission,
  TokenClaims,
  TokenSessionOptions,
  TokenSessions,
  VerifiedClaims,
} from './extensions/jwt/token-options.ts'
export { tokenSessions } from './extensions/jwt/token-sessions.ts'
