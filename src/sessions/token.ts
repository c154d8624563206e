import { nodeCrypto } from '../ground/node-crypto.ts'

/** SHA-256 of a raw session id, 64 hex digits. Only tokens leave the process, never raw session ids. */
export type Token = string

/** Matches a token. */
export const TOKEN_PATTERN = /^[0-9a-f]{64}$/

/** Returns the token of a raw session id. */
export function tokenOf(sessionId: string): Token {
  return nodeCrypto().hash('sha256', sessionId)
}
