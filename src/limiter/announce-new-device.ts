import { messageOf } from '../ground/error-text.ts'
import { warn } from '../ground/logger.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { UserId } from '../ground/user-id.ts'
import { dropTransient } from '../options/transient-store.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import type { LimiterContext } from './limiter-context.ts'

/** How many devices are remembered per user. */
const MOST = 20
/** The longest time that browsers keep a device cookie. */
const LIFE_MS = 400 * 24 * 60 * 60_000

/** Key of the devices that a user has signed in with. */
export function devicesKey(userId: UserId): string {
  return `devices:${nodeCrypto().hash('sha256', String(userId))}`
}

/**
 * Fires `sessmgr_new_device` if a session is on a device that the user has not signed in with before, and remembers the
 * device. Never rejects, because it must not affect the login. If two logins race, a device may be forgotten and
 * announced again.
 *
 * @param others Devices of the user's other sessions.
 */
export async function announceNewDevice(
  { store, logger, facts, erasures }: LimiterContext,
  session: SessionRecord,
  others: readonly string[],
): Promise<void> {
  const { userId, device } = session
  const key = devicesKey(userId)
  try {
    const known = (await store.transients.get(key))?.split(' ') ?? []
    if (!device || known.includes(device)) return
    const earlier = new Set([...known, ...others])
    facts.report([['sessmgr_new_device', session, { firstEver: earlier.size === 0 }]])
    await store.transients.set(key, [...earlier, device].slice(-MOST).join(' '), LIFE_MS)
    const { sequence = 0 } = (await erasures.of(userId)) ?? {}
    // The user was erased before the devices were saved.
    if (session.sequence < sequence) await dropTransient(store.transients, key)
  } catch (reason) {
    const message =
      'The devices of a user could not be read or saved. A login from a new device may be announced twice or not at all.'
    warn(logger, 'a-store-call-failed', message, { token: session.token, error: messageOf(reason) })
  }
}
