import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { BoundedMap } from '../../../ground/bounded-map.ts'
import type { UserId } from '../../../ground/user-id.ts'
import { type NewSession, type StoredSession, type Token, tokenOf } from '../../../sessions/session-record.ts'

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
  // The address is stored with its length, because clients can forge it if the application trusts too many proxies.
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
  readonly lastSeenAt: number
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
  const lastSeenAt = admitted + seen
  return { token: tokenOf(sessionId), lastSeenAt, expiresAt: lastSeenAt + ttl, generation }
}

function decodeValue(value: string) {
  const [, admitted, seen, ttl, generation, type, sessionId] = VALUE.exec(value) ?? []
  if (sessionId === undefined) return undefined
  return { admitted: hex(admitted), seen: hex(seen), ttl: hex(ttl), generation: hex(generation), type, sessionId }
}

function hex(digits = ''): number {
  return Number.parseInt(digits, 16)
}

/**
 * A compression dictionary of common user agents, most frequent last. User agents are the largest part of a session's
 * record, and the dictionary shortens them to a third. Never change the dictionary. To improve it, add another one:
 * each stored value starts with the number of its dictionary.
 */
const DICTIONARY = Buffer.from(
  'Opera/OPR/ Vivaldi/SamsungBrowser/ CriOS/FxiOS/ EdgA/EdgiOS/ curl/python-requests/node-fetch okhttp/PostmanRuntime/' +
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0' +
    'Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0' +
    'Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1' +
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1' +
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36 Edg/130.0.0.0' +
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36' +
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15' +
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0' +
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
)
const PLAIN = '0'
const DEFLATED = '1'

/**
 * Compressed user agents, kept because most logins come from the same few, and compressing one takes as long as a Redis
 * call.
 */
const recent = new BoundedMap<string, string>(500)

/** Compresses a user agent, if that makes it shorter. */
export function encodeUserAgent(userAgent: string): string {
  const known = recent.get(userAgent)
  if (known !== undefined) return known
  const encoded = deflated(userAgent)
  recent.set(userAgent, encoded)
  return encoded
}

function deflated(userAgent: string): string {
  const short = deflateRawSync(userAgent, { dictionary: DICTIONARY, level: 9 }).toString('base64url')
  return short.length < userAgent.length ? DEFLATED + short : PLAIN + userAgent
}

/** Decodes what {@link encodeUserAgent} wrote. */
export function decodeUserAgent(encoded: string): string {
  if (!encoded.startsWith(DEFLATED)) return encoded.slice(1)
  return inflateRawSync(Buffer.from(encoded.slice(1), 'base64url'), { dictionary: DICTIONARY }).toString()
}
