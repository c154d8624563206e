import { nodeCrypto } from '../ground/node-crypto.ts'

/** The 64-hex SHA-256 of a raw session id: the only name of a session that leaves the process. */
export type Token = string

/** What a token looks like. */
export const TOKEN_PATTERN = /^[0-9a-f]{64}$/

/** Makes the token of a raw session id. */
export function tokenOf(sessionId: string): Token {
  return nodeCrypto().hash('sha256', sessionId)
}
