import type { UserId } from '../user-id.ts'
import type { Token } from './token.ts'

/** One login session as everybody may see it. Times are milliseconds since the Unix epoch, by the store's clock. */
export interface SessionRecord {
  readonly token: Token
  readonly userId: UserId
  /** Order of admission within the user: a larger number was admitted later. */
  readonly sequence: number
  readonly createdAt: number
  readonly lastSeenAt: number
  readonly expiresAt: number
  /** Address of the client at login, as the host's trusted-proxy rules give it. */
  readonly ip: string | null
  readonly userAgent: string | null
  /** Logout generation that was current at login. */
  readonly generation: number
}

/** A record with the raw session id, by which alone the host's store can delete it. Never leaves the process. */
export interface StoredSession {
  readonly record: SessionRecord
  readonly sessionId: string
}

/** A session about to be registered. */
export interface NewSession {
  readonly sessionId: string
  /** Milliseconds until the session expires, counted from the store's now. */
  readonly ttlMs: number
  readonly ip: string | null
  readonly userAgent: string | null
  readonly generation: number
}
