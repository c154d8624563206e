import { type SessionRecord, tokenOf } from '../../src/sessions/session-record.ts'

/** Creates the records of `count` sessions of user 7, oldest admission first. */
export function sessionRecords(count: number): SessionRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    token: tokenOf(`session ${index}`),
    userId: 7,
    sequence: index + 1,
    loggedInAt: 1000,
    createdAt: 1000,
    lastSeenAt: 1000,
    expiresAt: 2000,
    ip: null,
    userAgent: null,
    device: null,
    label: null,
    counts: true,
    actor: null,
    bound: null,
    generation: 0,
  }))
}

/** Creates records of sessions of one user that were last used at these times, oldest admission first. */
export function usedAt(...times: readonly number[]): SessionRecord[] {
  return sessionRecords(times.length).map((record, index) => ({ ...record, lastSeenAt: times[index] as number }))
}
