import { isUserId, type UserId } from '../../ground/user-id.ts'
import type { Token } from '../../sessions/session-record.ts'
import type { HostSessionData } from '../host-types.ts'

/**
 * Pairs a session with its user, inside its data. A session with a pair but without a record in the registry has ended.
 * A login session without a pair is from before sessmgr.
 */
export interface SessionPair {
  readonly userId: UserId
  /** Binds the pair to one session id. In another session, as with `keepSessionInfo`, a copy is no pair. */
  readonly token: Token
  /** Name of the registry that the session was registered in. Whatever was stored: it is only compared. */
  readonly registry: string
  /** Whether another user acts as this one. If its record is lost, nobody knows on whom the session depends. */
  readonly acts?: true
}

/** Key of the pair in the session data. */
export const PAIR_KEY = 'sessmgr'

/** Returns the pair of the session with this token. Undefined if the session has none, or only that of another session. */
export function pairOf(data: HostSessionData, token: Token): SessionPair | undefined {
  const pair = data[PAIR_KEY] as SessionPair | null | undefined
  return pair?.token === token && isUserId(pair.userId) ? pair : undefined
}

/** Returns the pair of the session that this data was copied from, if it names the user. */
export function copiedPair(data: HostSessionData, userId: UserId): SessionPair | undefined {
  const { token } = Object(data[PAIR_KEY]) as Partial<SessionPair>
  const pair = typeof token === 'string' ? pairOf(data, token) : undefined
  return pair && String(pair.userId) === String(userId) ? pair : undefined
}
