import type { UserId } from '../../../ground/user-id.ts'
import type { NewSession, StoredSession } from '../../../sessions/session-record.ts'
import { type Token, tokenOf } from '../../../sessions/token.ts'
import { decodeUserAgent, encodeUserAgent } from './user-agent-codec.ts'

/**
 * Returns the field name of a session: the first 64 bits of its token, which are unique among the sessions of one user.
 */
export function fieldName(token: Token): string {
  return Buffer.from(token.slice(0, 16), 'hex').toString('base64url')
}

/** Encodes a new session for the scripts; see lua/registry/slot.lua. */
export function encodeSession(userId: UserId, session: NewSession): string[] {
  const { sessionId, ttlMs, ip, userAgent, device, generation } = session
  const type = typeof userId === 'number' ? 'n' : 's'
  const browser = device === null ? '' : `.${device}`
  // Stored with its length, because clients can choose this string if the application trusts too many proxies.
  const address = `${(ip ?? '').length.toString(16)}${browser},${ip ?? ''}`
  const info = address + (userAgent === null ? '' : encodeUserAgent(userAgent))
  return [fieldName(tokenOf(sessionId)), encodeTtl(ttlMs), `${generation.toString(16)}${type}${sessionId}`, info]
}

/** Encodes a lifetime for the scripts. */
export function encodeTtl(ttlMs: number): string {
  return Math.max(1, Math.round(ttlMs)).toString(16)
}

const VALUE = /^([0-9a-f]+),([0-9a-f]+),([0-9a-f]+),([0-9a-f]+)([ns])(.*)$/s

/** What a request needs to know about a session. */
export interface SessionLife {
  readonly token: Token
  readonly expiresAt: number
  readonly generation: number
}

/** Decodes a session that a script returned, or returns undefined if it is damaged. */
export function decodeSession(userId: UserId, value: string, info: string): StoredSession | undefined {
  const parts = decodeValue(value)
  if (!parts) return undefined
  const { admitted, seen, ttl, generation, type, sessionId } = parts
  const addressAt = info.indexOf(',') + 1
  const userAgentAt = addressAt + (Number.parseInt(info, 16) || 0)
  const ip = info.slice(addressAt, userAgentAt)
  const userAgent = info.slice(userAgentAt)
  const [, device = null] = info.slice(0, Math.max(0, addressAt - 1)).split('.')
  let token: Token | undefined
  const record = {
    // Computed on demand, like the user agent: a login reads all of the user's sessions but looks at only a few.
    get token() {
      token ??= tokenOf(sessionId)
      return token
    },
    userId: type === 'n' ? Number(userId) : String(userId),
    sequence: admitted,
    createdAt: admitted,
    lastSeenAt: admitted + seen,
    expiresAt: admitted + seen + ttl,
    ip: ip === '' ? null : ip,
    get userAgent() {
      return userAgent === '' ? null : decodeUserAgent(userAgent)
    },
    device,
    generation,
  }
  return { sessionId, record }
}

/** Decodes what a request needs to know about a session, or returns undefined if it is damaged. */
export function decodeLife(value: string): SessionLife | undefined {
  const parts = decodeValue(value)
  if (!parts) return undefined
  const { admitted, seen, ttl, generation, sessionId } = parts
  return { token: tokenOf(sessionId), expiresAt: admitted + seen + ttl, generation }
}

function decodeValue(value: string) {
  const [, admitted, seen, ttl, generation, type, sessionId] = VALUE.exec(value) ?? []
  if (sessionId === undefined) return undefined
  return { admitted: hex(admitted), seen: hex(seen), ttl: hex(ttl), generation: hex(generation), type, sessionId }
}

function hex(digits = ''): number {
  return Number.parseInt(digits, 16)
}
