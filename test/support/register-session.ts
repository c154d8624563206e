import type { Store } from 'express-session'
import type { UserId } from '../../src/ground/user-id.ts'
import type { SessmgrStore } from '../../src/index.ts'
import type { SessionHost } from '../../src/sessions/session-record.ts'

/** What a session is registered with. */
export interface SessionParts {
  readonly ip?: string | null
  readonly userAgent?: string | null
  readonly device?: string | null
  readonly ttlMs?: number
  readonly label?: string
  readonly counts?: boolean
  readonly host?: SessionHost
}

/** Registers a session without a login, which is quick, and returns its record. Its data is empty. */
export async function registerSession(
  { registry, sessionStore }: { readonly registry: SessmgrStore; readonly sessionStore: Pick<Store, 'set'> },
  userId: UserId,
  { ip = null, userAgent = null, device = null, ttlMs = 600_000, ...terms }: SessionParts = {},
) {
  const [read, { generation }] = await Promise.all([registry.sessions.read(userId), registry.epoch.current()])
  const sessionId = crypto.randomUUID()
  const admit = { sessionId, ttlMs, ip, userAgent, device, generation, ...terms }
  const result = await registry.sessions.commit(userId, read, { admit, end: [] })
  if (!result.committed) throw new Error('The session was not registered.')
  await new Promise((resolve) => sessionStore.set(sessionId, {} as never, resolve))
  return result.admitted.record
}
