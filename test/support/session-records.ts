import type { UserId } from '../../src/ground/user-id.ts'
import { type SessionRecord, tokenOf } from '../../src/sessions/session-record.ts'

/** Creates the records of `count` sessions of one user, oldest admission first. */
export function sessionRecords(count: number, userId: UserId = 7): SessionRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    token: tokenOf(`session ${index}`),
    userId,
    sequence: index + 1,
    createdAt: 1000,
    lastSeenAt: 1000,
    expiresAt: 2000,
    ip: null,
    userAgent: null,
    device: null,
    generation: 0,
  }))
}

/** Creates records of sessions of one user that were last used at these times, oldest admission first. */
export function usedAt(...times: readonly number[]): SessionRecord[] {
  return sessionRecords(times.length).map((record, index) => ({ ...record, lastSeenAt: times[index] as number }))
}
