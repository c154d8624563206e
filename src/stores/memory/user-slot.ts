import type { StoredSession } from '../../sessions/session-record.ts'
import { MOST_SESSIONS } from '../../sessions/session-registry.ts'
import type { Token } from '../../sessions/token.ts'

/** How long an ended token is remembered, so that a request that was under way cannot register it again. */
const ENDED_MEMORY_MS = 10 * 60_000
/** How many ended tokens of one user are remembered. */
const ENDED_MEMORY_COUNT = 32

/** What is known of one user. */
export interface UserSlot {
  version: number
  readonly sessions: Map<Token, StoredSession>
  /** Until when each ended token is remembered. */
  readonly ended: Map<Token, number>
}

/** Takes out what has expired. Returns whether anything is left to remember. */
export function pruneSlot({ sessions, ended }: UserSlot, now: number): boolean {
  for (const [token, { record }] of sessions) if (record.expiresAt <= now) sessions.delete(token)
  for (const [token, until] of ended) if (until <= now) ended.delete(token)
  return sessions.size > 0 || ended.size > 0
}

/** Ends sessions, and remembers them as ended. Returns those that there were. */
export function endInSlot(slot: UserSlot, tokens: readonly Token[], now: number): StoredSession[] {
  const ended = [...new Set(tokens)].flatMap((token) => slot.sessions.get(token) ?? [])
  for (const { record } of ended) {
    slot.sessions.delete(record.token)
    slot.ended.set(record.token, now + ENDED_MEMORY_MS)
  }
  for (const token of slot.ended.keys()) {
    if (slot.ended.size <= ENDED_MEMORY_COUNT) break
    slot.ended.delete(token)
  }
  return ended
}

/** Ends the oldest sessions beyond the most that one user may have. */
export function boundSlot(slot: UserSlot, now: number): StoredSession[] {
  const excess = Math.max(0, slot.sessions.size - MOST_SESSIONS)
  return excess === 0 ? [] : endInSlot(slot, [...slot.sessions.keys()].slice(0, excess), now)
}
