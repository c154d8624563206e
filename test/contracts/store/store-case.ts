import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { UserId } from '../../../src/ground/user-id.ts'
import { type NewSession, tokenOf } from '../../../src/sessions/session-record.ts'
import type { SessionRegistry } from '../../../src/sessions/session-registry.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'

/** A store under test. */
export interface StoreUnderTest {
  /** The empty store. */
  readonly store: SessmgrStore
  /** Opens the same data again, as another process would. Stores for a single process return the same object. */
  another(): Promise<SessmgrStore>
  /** Lets at least `ms` milliseconds (ten minutes at most) pass, if possible by moving the store's clock forward. */
  pass(ms: number): Promise<void>
  /** Moves the store's clock back by `ms` milliseconds. Without it, cases about clocks that were wrong are skipped. */
  rewind?(ms: number): Promise<void>
  /** Closes everything that `create` and `another` opened. Called once, even if the case fails. */
  close(): Promise<void>
}

/** A case of the contract: a name, a test that gets an empty store, and a mark if the test takes minutes. */
export type StoreCase = readonly [name: string, body: (test: StoreUnderTest) => Promise<void>, lasts?: 'minutes']

/** Lets time pass. Fails if the store's clock cannot be moved, because waiting would take minutes. */
export async function passMinutes(pass: StoreUnderTest['pass'], ms: number): Promise<void> {
  const waits = await Promise.race([pass(ms), sleep(3_000, 'waits', { ref: false })])
  const advice =
    "pass() waits in real time. Let it move the store's clock, or set realTime: true to skip the cases that take minutes"
  assert.notEqual(waits, 'waits', advice)
}

/** A lifetime that no case outlasts. */
export const LONG = 60_000
/** A lifetime that a case can wait for. */
export const SHORT = 600

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
