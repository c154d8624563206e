import assert from 'node:assert/strict'
import { documentStore } from '../../../src/document.ts'
import type { UserId } from '../../../src/ground/user-id.ts'
import { type NewSession, tokenOf } from '../../../src/sessions/session-record.ts'
import type { SessionRegistry } from '../../../src/sessions/session-registry.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import { fakeClock } from '../../../src/testing.ts'
import { MemoryRows } from '../../support/memory-driver.ts'

/** A lifetime that no case outlasts. */
export const LONG = 60_000
/** A lifetime that a case can wait for. */
export const SHORT = 600

/** An empty store, as two processes have it opened, and its clock. */
export interface OpenStore {
  readonly store: SessmgrStore
  readonly other: SessmgrStore
  /** Moves the clock of the store by `ms` milliseconds. */
  readonly pass: (ms: number) => void
}

/** The two implementations of all rules: rows, which every database has through a driver, and memory. */
export const IMPLEMENTATIONS: Readonly<Record<string, () => OpenStore>> = {
  rows() {
    const clock = fakeClock()
    const rows = new MemoryRows(clock)
    const open = () => documentStore(rows.driver())
    return { store: open(), other: open(), pass: (ms) => clock.advance(ms) }
  },
  memory() {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    return { store, other: store, pass: (ms) => clock.advance(ms) }
  },
}

/** Creates a session to register. */
export const newSession = (sessionId: string, ttlMs = LONG): NewSession => ({
  sessionId,
  ttlMs,
  ip: '192.0.2.1',
  userAgent: 'Agent "x" — ünï',
  device: 'hWqp9_x-0AbCdEfG',
  generation: 0,
})

/** Registers a session at the current version. */
export async function login(
  registry: SessionRegistry,
  userId: UserId,
  sessionId: string,
  ttlMs = LONG,
  end: readonly string[] = [],
) {
  const read = await registry.read(userId)
  const result = await registry.commit(userId, read, { admit: newSession(sessionId, ttlMs), end: end.map(tokenOf) })
  assert.ok(result.committed, `the login ${sessionId} ran into a conflict`)
  return result
}

/** Reads the raw ids of a user's sessions. */
export const idsOf = async (registry: SessionRegistry, userId: UserId) =>
  (await registry.read(userId)).sessions.map(({ sessionId }) => sessionId)
