import assert from 'node:assert/strict'
import type { UserId } from '../../ground/user-id.ts'
import type { NewSession } from '../../sessions/session-record.ts'
import type { SessionRegistry } from '../../sessions/session-registry.ts'
import { tokenOf } from '../../sessions/token.ts'

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
  const { version } = await registry.read(userId)
  const result = await registry.commit(userId, version, { admit: newSession(sessionId, ttlMs), end: end.map(tokenOf) })
  assert.ok(result.committed, `the login ${sessionId} ran into a conflict`)
  return result
}

/** Reads the raw ids of a user's sessions. */
export const idsOf = async (registry: SessionRegistry, userId: UserId) =>
  (await registry.read(userId)).sessions.map(({ sessionId }) => sessionId)
