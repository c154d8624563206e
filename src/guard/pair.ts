import { isUserId, type UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/session-record.ts'
import type { HostSessionData } from './host-types.ts'

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
}

/** Key of the pair in the session data, as stored. */
export const PAIR_KEY = 'sessmgr'

/**
 * Key of a pair that is hidden from the application. Spread and `Object.assign` copy it; JSON, `Object.keys` and
 * `for…in` skip it.
 */
export const HIDDEN_PAIR: unique symbol = Symbol.for('sessmgr.pair')

/** A session that may hide its pair. */
export type Hiding = HostSessionData & { [HIDDEN_PAIR]?: unknown }

/** Returns what a session has in the place of its pair, hidden or not, without any check. */
export function pairIn(data: Hiding): unknown {
  return data[HIDDEN_PAIR] ?? data[PAIR_KEY]
}

/** Returns the pair of the session with this token. Undefined if the session has none, or only that of another session. */
export function pairOf(data: HostSessionData, token: Token): SessionPair | undefined {
  const pair = pairIn(data) as SessionPair | null | undefined
  return pair?.token === token && isUserId(pair.userId) ? pair : undefined
}

/** Returns the pair of the session that this data was copied from, if it names the user. */
export function copiedPair(data: HostSessionData, userId: UserId): SessionPair | undefined {
  const { token } = Object(pairIn(data)) as Partial<SessionPair>
  const pair = typeof token === 'string' ? pairOf(data, token) : undefined
  return pair && String(pair.userId) === String(userId) ? pair : undefined
}

/** Returns the hidden pair of a session, if it has one. */
export function hiddenIn(data: Hiding): unknown {
  return data[HIDDEN_PAIR]
}

/** Puts a pair into a session, replacing any other. */
export function putPair(data: Hiding, pair: unknown, isHidden = false): void {
  if (isHidden) {
    data[HIDDEN_PAIR] = pair
    if (PAIR_KEY in data) delete data[PAIR_KEY]
  } else {
    dropHidden(data)
    data[PAIR_KEY] = pair
  }
}

/** Hides the visible pair of a session, if it has one. */
export function hidePair(data: Hiding): void {
  const pair = data[PAIR_KEY]
  if (pair === undefined) return
  data[HIDDEN_PAIR] = pair
  delete data[PAIR_KEY]
}

/** Copies a hidden pair into another session, because frameworks copy only what `for…in` finds. */
export function carryPair(from: Hiding, to: Hiding): void {
  const pair = from[HIDDEN_PAIR]
  if (pair === undefined) return
  to[HIDDEN_PAIR] = pair
  if (PAIR_KEY in to) delete to[PAIR_KEY]
}

/** Removes the hidden pair of a session, if it has one. */
export function dropHidden(data: Hiding): void {
  if (HIDDEN_PAIR in data) delete data[HIDDEN_PAIR]
}
